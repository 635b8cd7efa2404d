{#-
    Loads the rows that `lineage-post build` wrote; what is already there is not loaded again:

        dbt run-operation lineage_post.load
-#}
{% macro load(directory=none) %}
    {%- if not execute -%}{{ return('') }}{%- endif -%}
    {%- set bridge = lineage_post.bridge() -%}
    {%- if bridge is none -%}
        {{ return(lineage_post.load_files(directory or 'target/lineage_post/rows')) }}
    {%- endif -%}
    {%- set load = bridge.load(directory, var('lineage_post', {}), dbt.type_timestamp()) -%}
    {%- set failed = lineage_post.load_batches(bridge, load) -%}
    {%- if load.error -%}
        {%- do exceptions.raise_compiler_error(load.error) -%}
    {%- endif -%}
{% endmacro %}
