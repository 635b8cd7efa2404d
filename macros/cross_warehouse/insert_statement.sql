{#- An insert of rows already rendered as literals, `(..), (..)`. -#}
{% macro insert_statement(relation, columns, values) %}
    {{ return(adapter.dispatch('insert_statement', 'lineage_post')(relation, columns, values)) }}
{% endmacro %}

{% macro default__insert_statement(relation, columns, values) %}
    {{ return('insert into ' ~ relation ~ ' (' ~ columns ~ ') values\n' ~ values) }}
{% endmacro %}

{#- Tables of older Spark formats take no column list; the values are in the table's order. -#}
{% macro spark__insert_statement(relation, columns, values) %}
    {{ return('insert into ' ~ relation ~ ' values\n' ~ values) }}
{% endmacro %}

