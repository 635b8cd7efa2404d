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
    cast(null as {{ dbt.type_string() }}) as definition_version,
    cast(null as {{ dbt.type_string() }}) as resource_type,
    cast(null as {{ dbt.type_string() }}) as relation,
    cast(null as {{ dbt.type_string() }}) as package,
    cast(null as {{ dbt.type_string() }}) as materialization,
    cast(null as {{ dbt.type_string() }}) as owner,
    cast(null as {{ dbt.type_string() }}) as tags,
    cast(null as {{ dbt.type_string() }}) as access,
    cast(null as {{ dbt.type_string() }}) as group_name
where 1 = 0
