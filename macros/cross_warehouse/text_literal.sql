{#- A text as a literal, whatever is in it. -#}
{% macro text_literal(value) %}
    {{- return(adapter.dispatch('text_literal', 'lineage_post')(value | string)) -}}
{% endmacro %}

{% macro default__text_literal(value) %}
    {{- return("'" ~ value | replace("'", "''") ~ "'") -}}
{% endmacro %}

{% macro escaped_text_literal(value) %}
    {{- return("'" ~ value | replace("\\", "\\\\") | replace("'", "\\'") ~ "'") -}}
{% endmacro %}

{% macro spark__text_literal(value) %}
    {{- return(lineage_post.escaped_text_literal(value)) -}}
{% endmacro %}

{% macro bigquery__text_literal(value) %}
    {{- return(lineage_post.escaped_text_literal(value)) -}}
{% endmacro %}

{% macro snowflake__text_literal(value) %}
    {{- return(lineage_post.escaped_text_literal(value)) -}}
{% endmacro %}

{% macro redshift__text_literal(value) %}
    {{- return(lineage_post.escaped_text_literal(value)) -}}
{% endmacro %}
