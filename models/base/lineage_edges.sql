{{
    config(
        materialized='incremental',
        full_refresh=false,
        on_schema_change='append_new_columns'
    )
}}
{{ lineage_post.base_rows([
    ('fingerprint', lineage_post.type_text()),
    ('from_node', lineage_post.type_text()),
    ('from_column', lineage_post.type_text()),
    ('from_field', lineage_post.type_text()),
    ('to_node', lineage_post.type_text()),
    ('to_column', lineage_post.type_text()),
    ('type', lineage_post.type_text()),
    ('subtype', lineage_post.type_text()),
    ('masking', dbt.type_boolean()),
    ('certainty', lineage_post.type_text()),
    ('expression', lineage_post.type_text()),
    ('ops', lineage_post.type_text()),
]) }}
