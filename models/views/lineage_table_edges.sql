{{ config(materialized='view') }}
-- A pair of nodes comes from the declared inputs or from the edges, whichever names it. Only
-- here are pairs of a node with itself left out.
with current_refreshes as (
    {{ lineage_post.current_refreshes() }}
),

inputs as (
    {{ lineage_post.unnest_inputs('current_refreshes') }}
),

current_edges as (
    {{ lineage_post.current_edges() }}
),

edges as (
    select
        from_node,
        to_node,
        max(case when to_column is not null then 1 else 0 end) as has_column_edge
    from current_edges
    group by from_node, to_node
),

pairs as (
    select from_node, to_node from edges
    union
    select input_node as from_node, node as to_node from inputs
),

nodes as (
    select
        node,
        max(case when state = 'known' then 1 else 0 end) as is_known,
        max(refreshed_at) as refreshed_at
    from current_refreshes
    group by node
),

final as (
    select
        pairs.from_node,
        pairs.to_node,
        case
            when edges.has_column_edge = 1 then 'columns flow'
            when nodes.is_known = 1 then 'no columns flow'
            else 'not available'
        end as column_state,
        nodes.refreshed_at
    from pairs
    inner join nodes on pairs.to_node = nodes.node
    left join edges on pairs.from_node = edges.from_node and pairs.to_node = edges.to_node
    where pairs.from_node <> pairs.to_node
)

select * from final
