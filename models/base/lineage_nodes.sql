{{
    config(
        materialized='incremental',
        full_refresh=false,
        on_schema_change='append_new_columns'
    )
}}
{{ lineage_post.base_rows([
    ('node', dbt.type_string()),
    ('definition_version', dbt.type_string()),
    ('resource_type', dbt.type_string()),
    ('relation', dbt.type_string()),
    ('package', dbt.type_string()),
    ('materialization', dbt.type_string()),
    ('owner', dbt.type_string()),
    ('tags', dbt.type_string()),
    ('access', dbt.type_string()),
    ('group_name', dbt.type_string()),
    ('query', dbt.type_string()),
    ('renamed_from', dbt.type_string()),
    ('native', dbt.type_string()),
]) }}
