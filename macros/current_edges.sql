{#-
    Current edges. Two loads that met may have written a fingerprint's rows twice; an edge is one edge.
-#}
{% macro current_edges() %}
    {{ return(adapter.dispatch('current_edges', 'lineage_post')()) }}
{% endmacro %}

{% macro default__current_edges() %}
    with current_refreshes as (
        {{ lineage_post.current_refreshes() }}
    ),

    edges as (
        select * from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_edges')) }}
    )

    select
        edges.from_node,
        edges.from_column,
        edges.from_field,
        edges.to_node,
        edges.to_column,
        edges.type,
        edges.subtype,
        edges.masking,
        edges.certainty,
        edges.expression,
        edges.ops,
        cast(count(distinct current_refreshes.producer) as {{ dbt.type_int() }}) as producers,
        max(current_refreshes.refreshed_at) as refreshed_at
    from edges
    inner join current_refreshes on edges.fingerprint = current_refreshes.fingerprint
    group by
        edges.from_node,
        edges.from_column,
        edges.from_field,
        edges.to_node,
        edges.to_column,
        edges.type,
        edges.subtype,
        edges.masking,
        edges.certainty,
        edges.expression,
        edges.ops
{% endmacro %}
