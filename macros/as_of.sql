{#-
    Lineage as it stood at a time, and as it had been recorded at a time: queries to select from.

        select * from ({{ lineage_post.column_edges_as_of('2026-03-31') }}) as edges

    A date stands for its end. What was recorded later about an earlier time is in the answer, until
    `as_recorded` says what was known when:

        {{ lineage_post.column_edges_as_of('2026-03-31', as_recorded='2026-04-02T09:00:00Z') }}
-#}
{% macro column_edges_as_of(as_of=none, as_recorded=none) %}
    {{ return(lineage_post.current_edges(as_of, as_recorded)) }}
{% endmacro %}

{% macro table_edges_as_of(as_of=none, as_recorded=none) %}
    {{ return(lineage_post.table_edges(as_of, as_recorded)) }}
{% endmacro %}

{% macro refreshes_as_of(as_of=none, as_recorded=none) %}
    {{ return(lineage_post.current_refreshes(as_of, as_recorded)) }}
{% endmacro %}

{% macro claims_as_of(as_of=none, as_recorded=none) %}
    {{ return(lineage_post.claims(as_of, as_recorded)) }}
{% endmacro %}

{% macro built_from_as_of(as_of=none, as_recorded=none) %}
    {{ return(lineage_post.built_from(as_of, as_recorded)) }}
{% endmacro %}
