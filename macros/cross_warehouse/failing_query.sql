{#- A query that fails in the warehouse with the message in its error: raising from a hook would
    stop dbt as if it had been interrupted, while failing SQL is a failed hook with exit code 1. -#}
{% macro failing_query(message) %}
    {{ return(adapter.dispatch('failing_query', 'lineage_post')(message)) }}
{% endmacro %}

{% macro default__failing_query(message) %}
    {{ return("select cast('" ~ message | replace("'", "''") ~ "' as integer)") }}
{% endmacro %}

{% macro spark__failing_query(message) %}
    {{ return("select raise_error('" ~ message | replace("\\", "/") | replace("'", '`') ~ "')") }}
{% endmacro %}

{% macro bigquery__failing_query(message) %}
    {{ return("select error('" ~ message | replace("\\", "/") | replace("'", '`') ~ "')") }}
{% endmacro %}

{% macro snowflake__failing_query(message) %}
    {{ return("select to_number('" ~ message | replace("\\", "/") | replace("'", "''") ~ "')") }}
{% endmacro %}
