{#-
    Fails for each column of the model (or for the one it is on) whose origin is not known, where there
    are more than `max_unknown` (0), and for each that is only assumed, where there are more than
    `max_assumed` (no limit).
-#}
{% test lineage_known(
    model, column_name=none, max_unknown=none, max_assumed=none, arguments=none
) %}
    {{ return(lineage_post.contract('lineage_known', model, column_name, {
        'max_unknown': max_unknown,
        'max_assumed': max_assumed
    }, arguments)) }}
{% endtest %}
