{{
    config(
        materialized='incremental',
        full_refresh=false,
        on_schema_change='append_new_columns'
    )
}}
{{ lineage_post.base_rows([
    ('fingerprint', dbt.type_string()),
    ('from_node', dbt.type_string()),
    ('from_column', dbt.type_string()),
    ('from_field', dbt.type_string()),
    ('to_node', dbt.type_string()),
    ('to_column', dbt.type_string()),
    ('type', dbt.type_string()),
    ('subtype', dbt.type_string()),
    ('masking', dbt.type_boolean()),
    ('certainty', dbt.type_string()),
    ('expression', dbt.type_string()),
    ('ops', dbt.type_string()),
]) }}
