{{
    config(
        materialized='incremental',
        full_refresh=false,
        on_schema_change='append_new_columns'
    )
}}
-- The hook appends the rows; this select only fixes the shape.
select
    cast(null as {{ dbt.type_string() }}) as node,
    cast(null as {{ dbt.type_string() }}) as run_id,
    cast(null as {{ dbt.type_string() }}) as producer,
    cast(null as {{ dbt.type_timestamp() }}) as refreshed_at,
    cast(null as {{ dbt.type_timestamp() }}) as recorded_at,
    cast(null as {{ dbt.type_string() }}) as status,
    cast(null as {{ dbt.type_string() }}) as operation,
    cast(null as {{ dbt.type_string() }}) as definition_version,
    cast(null as {{ dbt.type_string() }}) as git_revision,
    cast(null as {{ dbt.type_string() }}) as build_mode,
    cast(null as {{ dbt.type_string() }}) as fingerprint,
    cast(null as {{ dbt.type_string() }}) as last_known_fingerprint,
    cast(null as {{ dbt.type_string() }}) as state,
    cast(null as {{ dbt.type_string() }}) as reason,
    cast(null as {{ dbt.type_string() }}) as inputs,
    cast(null as {{ dbt.type_string() }}) as column_derivations,
    cast(null as {{ dbt.type_string() }}) as trace_id
where 1 = 0
