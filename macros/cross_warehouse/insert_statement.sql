{#- An insert; `source` is a list of values or a query. -#}
{% macro insert_statement(relation, columns, source) %}
    {{ return(adapter.dispatch('insert_statement', 'lineage_post')(relation, columns, source)) }}
{% endmacro %}

{% macro default__insert_statement(relation, columns, source) %}
    {{ return('insert into ' ~ relation ~ ' (' ~ columns ~ ')\n' ~ source) }}
{% endmacro %}

{#- Tables of older Spark formats take no column list; the values are in the table's order. -#}
{% macro spark__insert_statement(relation, columns, source) %}
    {{ return('insert into ' ~ relation ~ '\n' ~ source) }}
{% endmacro %}

