{#-
    Which source rows the rows of a model come from, asked on this project's own connection:

        dbt run-operation lineage_post.why --args '{model: fct_orders, where: "order_id = 42"}'

    More arguments: depth (steps, or sources), how, where_cells, as_of_now, counts_only, everything,
    limit, sample, timeout, output (table, json or sql). It only reads.
-#}
{% macro why(model, where) %}
    {%- if not execute -%}{{ return('') }}{%- endif -%}
    {%- set bridge = lineage_post.bridge() -%}
    {%- if bridge is none -%}
        {{ return(lineage_post.bridge_missing('no row can be explained')) }}
    {%- endif -%}
    {%- set answered = bridge.why(model, where, kwargs) -%}
    {%- if answered.text -%}
        {%- do log(answered.text, info=True) -%}
    {%- endif -%}
    {%- if answered.error -%}
        {%- do exceptions.raise_compiler_error(answered.error) -%}
    {%- endif -%}
{% endmacro %}
