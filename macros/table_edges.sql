{#-
    Table lineage: a pair of nodes comes from the declared inputs or from the edges, whichever names
    it. Only here are pairs of a node with itself left out.
-#}
{% macro table_edges(as_of=none, as_recorded=none) %}
    {{ return(adapter.dispatch('table_edges', 'lineage_post')(as_of, as_recorded)) }}
{% endmacro %}

{% macro default__table_edges(as_of, as_recorded) %}
    {%- set now = lineage_post.moment(as_of, 'as_of') or lineage_post.utc_now() -%}
    with current_refreshes as (
        {{ lineage_post.current_refreshes(as_of, as_recorded) }}
    ),

    counted as (
        {{ lineage_post.edge_refreshes(as_of, as_recorded) }}
    ),

    inputs as (
        {{ lineage_post.unnest_inputs('current_refreshes') }}
    ),

    edges as (
        select
            edges.from_node,
            edges.to_node,
            counted.producer,
            max(case when edges.to_column is not null then 1 else 0 end) as has_column_edge
        from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_edges')) }} as edges
        inner join counted on edges.fingerprint = counted.fingerprint
        group by edges.from_node, edges.to_node, counted.producer
    ),

    claims as (
        select from_node, to_node, producer, has_column_edge from edges
        union all
        select input_node as from_node, node as to_node, producer, 0 as has_column_edge from inputs
    ),

    pairs as (
        select
            claims.from_node,
            claims.to_node,
            max(claims.has_column_edge) as has_column_edge,
            {{ lineage_post.joined('claims.producer') }} as vouched_by,
            min({{ lineage_post.is_stale(
                'claims.producer', 'current_refreshes.refreshed_at', now
            ) }}) as is_stale
        from claims
        inner join current_refreshes
            on claims.to_node = current_refreshes.node
            and claims.producer = current_refreshes.producer
        where claims.from_node <> claims.to_node
        group by claims.from_node, claims.to_node
    ),

    nodes as (
        select
            node,
            max(case when state = 'known' then 1 else 0 end) as is_known,
            max(refreshed_at) as refreshed_at
        from current_refreshes
        group by node
    )

    select
        pairs.from_node,
        pairs.to_node,
        case
            when pairs.has_column_edge = 1 then 'columns flow'
            when nodes.is_known = 1 then 'no columns flow'
            else 'not available'
        end as column_state,
        nodes.refreshed_at,
        pairs.vouched_by,
        pairs.is_stale = 1 as stale
    from pairs
    inner join nodes on pairs.to_node = nodes.node
{% endmacro %}
