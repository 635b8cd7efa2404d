{#-
    Fails where the lineage that is recorded of a model is not of its present definition, or older than
    `max_age_hours`. What this very run has built is fresh, if the hook is there to record it.
-#}
{% test lineage_fresh(model, column_name=none, max_age_hours=none, arguments=none) %}
    {{ return(lineage_post.contract('lineage_fresh', model, column_name, {
        'max_age_hours': max_age_hours
    }, arguments)) }}
{% endtest %}
