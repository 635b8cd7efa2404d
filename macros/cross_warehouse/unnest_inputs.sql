{#-
    A query with one row per refresh and version of an input, from the JSON array in `inputs`: node,
    producer, input_node, version and kind.
-#}
{% macro unnest_inputs(relation) %}
    {{ return(adapter.dispatch('unnest_inputs', 'lineage_post')(relation)) }}
{% endmacro %}

{#- Where the warehouse's JSON functions are not known: an input is a node whose quoted id is in the text. -#}
{% macro default__unnest_inputs(relation) %}
    select distinct
        readers.node,
        readers.producer,
        inputs.node as input_node,
        cast(null as {{ dbt.type_string() }}) as version,
        cast(null as {{ dbt.type_string() }}) as kind
    from {{ relation }} as readers
    inner join {{ relation }} as inputs
        on {{ dbt.position("'\"node\":\"' || inputs.node || '\"'", "readers.inputs") }} > 0
{% endmacro %}

{% macro duckdb__unnest_inputs(relation) %}
    select distinct
        node,
        producer,
        json_extract_string(input, '$.node') as input_node,
        json_extract_string(input, '$.version') as version,
        json_extract_string(input, '$.kind') as kind
    from (
        select
            node,
            producer,
            unnest(from_json(inputs, '["json"]')) as input
        from {{ relation }}
        where inputs is not null
    ) as unnested
{% endmacro %}

{% macro postgres__unnest_inputs(relation) %}
    select distinct
        refreshes.node,
        refreshes.producer,
        input.value ->> 'node' as input_node,
        input.value ->> 'version' as version,
        input.value ->> 'kind' as kind
    from {{ relation }} as refreshes
    cross join lateral json_array_elements(cast(refreshes.inputs as json)) as input (value)
{% endmacro %}

{% macro redshift__unnest_inputs(relation) %}
    select distinct
        refreshes.node,
        refreshes.producer,
        cast(input.node as varchar) as input_node,
        cast(input.version as varchar) as version,
        cast(input.kind as varchar) as kind
    from (
        select
            node,
            producer,
            json_parse(inputs) as inputs
        from {{ relation }}
        where inputs is not null
    ) as refreshes, refreshes.inputs as input
{% endmacro %}

{% macro snowflake__unnest_inputs(relation) %}
    select distinct
        refreshes.node,
        refreshes.producer,
        cast(input.value:node as varchar) as input_node,
        cast(input.value:version as varchar) as version,
        cast(input.value:kind as varchar) as kind
    from {{ relation }} as refreshes
    cross join lateral flatten(input => parse_json(refreshes.inputs)) as input
{% endmacro %}

{% macro bigquery__unnest_inputs(relation) %}
    select distinct
        refreshes.node,
        refreshes.producer,
        json_value(input, '$.node') as input_node,
        json_value(input, '$.version') as version,
        json_value(input, '$.kind') as kind
    from {{ relation }} as refreshes
    cross join unnest(json_query_array(refreshes.inputs)) as input
{% endmacro %}

{% macro spark__unnest_inputs(relation) %}
    select distinct
        refreshes.node,
        refreshes.producer,
        input.node as input_node,
        input.version as version,
        input.kind as kind
    from {{ relation }} as refreshes
    lateral view explode(
        from_json(refreshes.inputs, 'array<struct<node:string,version:string,kind:string>>')
    ) inputs as input
{% endmacro %}

{% macro trino__unnest_inputs(relation) %}
    select distinct
        refreshes.node,
        refreshes.producer,
        json_extract_scalar(input, '$.node') as input_node,
        json_extract_scalar(input, '$.version') as version,
        json_extract_scalar(input, '$.kind') as kind
    from {{ relation }} as refreshes
    cross join unnest(cast(json_parse(refreshes.inputs) as array(json))) as inputs (input)
{% endmacro %}
