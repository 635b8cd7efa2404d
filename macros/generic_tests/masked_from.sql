{#-
    Fails for each of these columns that reaches the column by a path on which no function masks it.
    On a model it holds for all its columns. The option `masking_functions` names functions of yours.
-#}
{% test masked_from(
    model, column_name=none, columns=none, column_tags=none, column_meta=none,
    include_indirect=none, allow_unknown=none, arguments=none
) %}
    {{ return(lineage_post.contract('masked_from', model, column_name, {
        'columns': columns,
        'column_tags': column_tags,
        'column_meta': column_meta,
        'include_indirect': include_indirect,
        'allow_unknown': allow_unknown
    }, arguments)) }}
{% endtest %}
