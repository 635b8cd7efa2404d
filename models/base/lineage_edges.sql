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
    cast(null as {{ dbt.type_string() }}) as from_node,
    cast(null as {{ dbt.type_string() }}) as from_column,
    cast(null as {{ dbt.type_string() }}) as from_field,
    cast(null as {{ dbt.type_string() }}) as to_node,
    cast(null as {{ dbt.type_string() }}) as to_column,
    cast(null as {{ dbt.type_string() }}) as type,
    cast(null as {{ dbt.type_string() }}) as subtype,
    cast(null as {{ dbt.type_boolean() }}) as masking,
    cast(null as {{ dbt.type_string() }}) as certainty,
    cast(null as {{ dbt.type_string() }}) as expression,
    cast(null as {{ dbt.type_string() }}) as ops
where 1 = 0
