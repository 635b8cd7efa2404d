{#-
    A base table's name as it is. Of a bare ref `--empty` and `--sample` leave few rows or none, and
    the views that such a run makes would stay empty after it.
-#}
{% macro all_rows(relation) %}
    {{- return(relation.render()) -}}
{% endmacro %}
