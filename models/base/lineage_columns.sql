{{
    config(
        materialized='incremental',
        full_refresh=false,
        on_schema_change='append_new_columns'
    )
}}
{{ lineage_post.base_rows([
    ('fingerprint', dbt.type_string()),
    ('node', dbt.type_string()),
    ('column_name', dbt.type_string()),
    ('ordinal', dbt.type_int()),
    ('data_type', dbt.type_string()),
    ('state', dbt.type_string()),
    ('reason', dbt.type_string()),
    ('expression', dbt.type_string()),
]) }}
