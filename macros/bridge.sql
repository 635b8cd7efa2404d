{#-
    The object of the Python side, or none where it is not in dbt's process. dbt rebuilds `graph`
    when it defers; the marker asks the plugin to attach itself again.
-#}
{% macro bridge() %}
    {%- if execute and 'lineage_post' not in graph -%}
        {%- do log('lineage_post:attach') -%}
    {%- endif -%}
    {{ return(graph.get('lineage_post') if execute else none) }}
{% endmacro %}

{% macro bridge_missing(consequence) %}
    {%- do log(
        'lineage_post: the Python side is not in this dbt process; ' ~ consequence ~ '. Install it'
        ~ ' beside dbt (pip install dbt-lineage-post) and do not use --no-write-json, or run'
        ~ ' `lineage-post build` and `dbt run-operation lineage_post.load`.', info=True
    ) -%}
    {{ return('') }}
{% endmacro %}
