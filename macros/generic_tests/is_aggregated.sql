{#-
    Fails for each column of a source or seed whose value reaches the column without an aggregation on
    the way; where columns are named, for each of these. Counts and constants show no value.
-#}
{% test is_aggregated(
    model, column_name=none, columns=none, column_tags=none, column_meta=none,
    allow_unknown=none, arguments=none
) %}
    {{ return(lineage_post.contract('is_aggregated', model, column_name, {
        'columns': columns,
        'column_tags': column_tags,
        'column_meta': column_meta,
        'allow_unknown': allow_unknown
    }, arguments)) }}
{% endtest %}
