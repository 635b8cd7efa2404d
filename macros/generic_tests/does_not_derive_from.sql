{#-
    Fails for each of these columns that the column's value comes from; with `include_indirect: true`
    also for each that decides its rows, branches or windows. On a model it holds for all its columns.
    What cannot be proven because something on the way is not known fails, unless
    `allow_unknown: true`.
-#}
{% test does_not_derive_from(
    model, column_name=none, columns=none, column_tags=none, column_meta=none,
    include_indirect=none, allow_unknown=none, arguments=none
) %}
    {{ return(lineage_post.contract('does_not_derive_from', model, column_name, {
        'columns': columns,
        'column_tags': column_tags,
        'column_meta': column_meta,
        'include_indirect': include_indirect,
        'allow_unknown': allow_unknown
    }, arguments)) }}
{% endtest %}
