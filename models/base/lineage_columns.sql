{{
    config(
        materialized='incremental',
        full_refresh=false,
        on_schema_change='append_new_columns'
    )
}}
{{ lineage_post.base_rows([
    ('fingerprint', lineage_post.type_text()),
    ('node', lineage_post.type_text()),
    ('column_name', lineage_post.type_text()),
    ('ordinal', dbt.type_int()),
    ('data_type', lineage_post.type_text()),
    ('state', lineage_post.type_text()),
    ('reason', lineage_post.type_text()),
    ('expression', lineage_post.type_text()),
]) }}
