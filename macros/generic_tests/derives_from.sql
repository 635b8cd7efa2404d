{#-
    Fails for each origin that the column's value does not come from, directly or through any number
    of models. `columns` are references such as stg_orders.amount, web.sessions.user_id or stg_*.email;
    `column_tags` and `column_meta` pick columns by what YAML says of them. With `require: any` one
    origin is enough. What cannot be proven because something on the way is not known fails, unless
    `allow_unknown: true`.
-#}
{% test derives_from(
    model, column_name=none, columns=none, column_tags=none, column_meta=none, require=none,
    allow_unknown=none, arguments=none
) %}
    {{ return(lineage_post.contract('derives_from', model, column_name, {
        'columns': columns,
        'column_tags': column_tags,
        'column_meta': column_meta,
        'require': require,
        'allow_unknown': allow_unknown
    }, arguments)) }}
{% endtest %}
