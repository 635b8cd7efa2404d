{#-
    Retires what one producer claims, of one node or of all; history keeps it, and no other producer
    is touched:

        dbt run-operation lineage_post.purge --args '{producer: warehouse_logs}'

    What this tool itself recorded (execution, manifest) is retired only with `own: true`.
-#}
{% macro purge(producer, node=none, own=false) %}
    {%- if not execute -%}{{ return('') }}{%- endif -%}
    {%- set bridge = lineage_post.bridge() -%}
    {%- if bridge is none -%}
        {{ return(lineage_post.bridge_missing('nothing was retired')) }}
    {%- endif -%}
    {%- set load = bridge.purge(producer, node, own, var('lineage_post', {}), dbt.type_timestamp()) -%}
    {%- do lineage_post.load_batches(bridge, load) -%}
    {%- if load.error -%}
        {%- do exceptions.raise_compiler_error(load.error) -%}
    {%- endif -%}
{% endmacro %}
