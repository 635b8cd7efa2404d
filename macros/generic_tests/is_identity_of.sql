{#-
    Fails where the column is not a bare copy of one of these columns: for each change of the value on
    the way, and each other source of it.
-#}
{% test is_identity_of(model, column_name=none, columns=none, allow_unknown=none, arguments=none) %}
    {{ return(lineage_post.contract('is_identity_of', model, column_name, {
        'columns': columns,
        'allow_unknown': allow_unknown
    }, arguments)) }}
{% endtest %}
