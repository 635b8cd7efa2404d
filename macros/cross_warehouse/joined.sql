{#- An aggregate: the distinct values of a text column in order, with commas between them. -#}
{% macro joined(column) %}
    {{- return(adapter.dispatch('joined', 'lineage_post')(column)) -}}
{% endmacro %}

{% macro default__joined(column) %}
    {{- return("string_agg(distinct " ~ column ~ ", ', ' order by " ~ column ~ ")") -}}
{% endmacro %}

{% macro snowflake__joined(column) %}
    {{- return("listagg(distinct " ~ column ~ ", ', ') within group (order by " ~ column ~ ")") -}}
{% endmacro %}

{% macro redshift__joined(column) %}
    {{- return("listagg(distinct " ~ column ~ ", ', ') within group (order by " ~ column ~ ")") -}}
{% endmacro %}

{% macro spark__joined(column) %}
    {{- return("array_join(array_sort(collect_set(" ~ column ~ ")), ', ')") -}}
{% endmacro %}

{% macro trino__joined(column) %}
    {{- return("array_join(array_sort(array_agg(distinct " ~ column ~ ")), ', ')") -}}
{% endmacro %}
