{#-
    Fails for each column of a source or seed that the value comes from by a path that meets none of
    these columns. Constants come from nowhere and are allowed.
-#}
{% test only_derives_from(
    model, column_name=none, columns=none, column_tags=none, column_meta=none,
    allow_unknown=none, arguments=none
) %}
    {{ return(lineage_post.contract('only_derives_from', model, column_name, {
        'columns': columns,
        'column_tags': column_tags,
        'column_meta': column_meta,
        'allow_unknown': allow_unknown
    }, arguments)) }}
{% endtest %}
