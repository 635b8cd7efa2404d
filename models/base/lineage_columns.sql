{{
    config(
        materialized='incremental',
        full_refresh=false,
        on_schema_change='append_new_columns'
    )
}}
-- The hook appends the rows; this select only fixes the shape.
select
    cast(null as {{ dbt.type_string() }}) as fingerprint,
    cast(null as {{ dbt.type_string() }}) as node,
    cast(null as {{ dbt.type_string() }}) as column_name,
    cast(null as {{ dbt.type_int() }}) as ordinal,
    cast(null as {{ dbt.type_string() }}) as data_type,
    cast(null as {{ dbt.type_string() }}) as state,
    cast(null as {{ dbt.type_string() }}) as reason,
    cast(null as {{ dbt.type_string() }}) as expression
where 1 = 0
