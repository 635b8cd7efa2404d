{{
    config(
        materialized='incremental',
        full_refresh=false,
        on_schema_change='append_new_columns'
    )
}}
{{ lineage_post.base_rows([
    ('node', dbt.type_string()),
    ('run_id', dbt.type_string()),
    ('producer', dbt.type_string()),
    ('refreshed_at', dbt.type_timestamp()),
    ('recorded_at', dbt.type_timestamp()),
    ('status', dbt.type_string()),
    ('operation', dbt.type_string()),
    ('definition_version', dbt.type_string()),
    ('git_revision', dbt.type_string()),
    ('build_mode', dbt.type_string()),
    ('fingerprint', dbt.type_string()),
    ('last_known_fingerprint', dbt.type_string()),
    ('state', dbt.type_string()),
    ('reason', dbt.type_string()),
    ('inputs', dbt.type_string()),
    ('column_derivations', dbt.type_string()),
    ('trace_id', dbt.type_string()),
]) }}
