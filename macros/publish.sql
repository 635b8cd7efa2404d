{#-
    Records the column lineage of what this run built. For a project of your own:

        on-run-end: "{{ lineage_post.publish(results) }}"

    It never fails the run: a fault is one warning line, unless `strict` is set in the
    `lineage_post` block under `vars`. Then it returns SQL that fails, with the message.
-#}
{% macro publish(results) %}
    {#- dbt renders hooks during compile and docs generate too, on a worker thread. -#}
    {%- if not execute or flags.WHICH not in ('run', 'build', 'seed', 'snapshot', 'test') -%}
        {{ return('') }}
    {%- endif -%}
    {{ return(adapter.dispatch('publish', 'lineage_post')(results)) }}
{% endmacro %}

{% macro default__publish(results) %}
    {%- set bridge = lineage_post.bridge() -%}
    {%- if bridge is none -%}
        {{ return(lineage_post.bridge_missing('lineage of this run not recorded')) }}
    {%- endif -%}
    {%- set load = bridge.publish(results, var('lineage_post', {}), dbt.type_timestamp()) -%}
    {{ return(lineage_post.load_batches(bridge, load)) }}
{% endmacro %}
