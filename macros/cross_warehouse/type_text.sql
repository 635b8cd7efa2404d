{#- The type of a text of any length, as far as the warehouse has one. -#}
{% macro type_text() %}
    {{- return(adapter.dispatch('type_text', 'lineage_post')()) -}}
{% endmacro %}

{% macro default__type_text() %}
    {{- return(dbt.type_string()) -}}
{% endmacro %}

{#- Without a length it would be 256 bytes; models/base/*.yml says the same. -#}
{% macro redshift__type_text() %}
    {{- return('varchar(65535)') -}}
{% endmacro %}
