{{ config(materialized='view') }}
-- A node or column counts by the best that any producer knows of it.
with refreshes as (
    {{ lineage_post.current_refreshes() }}
),

current_refreshes as (
    select
        node,
        fingerprint,
        reason,
        {{ lineage_post.state_rank('state') }} as state_rank,
        {{ dbt.split_part('node', "'.'", 1) }} as resource_type
    from refreshes
),

nodes as (
    select
        resource_type,
        node,
        max(state_rank) as state_rank
    from current_refreshes
    group by resource_type, node
),

-- A statement that could not be parsed is a node's SQL, or a hook of it.
unparsed as (
    select
        current_refreshes.resource_type,
        count(distinct current_refreshes.node) as node_count
    from current_refreshes
    left join {{ lineage_post.all_rows(ref('lineage_columns')) }} as lineage_columns
        on
            current_refreshes.fingerprint = lineage_columns.fingerprint
            and lineage_columns.reason = 'parse_error'
    where current_refreshes.reason = 'parse_error' or lineage_columns.reason = 'parse_error'
    group by current_refreshes.resource_type
),

columns as (
    select
        current_refreshes.resource_type,
        current_refreshes.node,
        lineage_columns.column_name,
        max({{ lineage_post.state_rank('lineage_columns.state') }}) as state_rank
    from current_refreshes
    inner join {{ lineage_post.all_rows(ref('lineage_columns')) }} as lineage_columns
        on current_refreshes.fingerprint = lineage_columns.fingerprint
    where lineage_columns.column_name is not null
    group by current_refreshes.resource_type, current_refreshes.node, lineage_columns.column_name
),

node_counts as (
    select
        resource_type,
        count(*) as all_count,
        {{ lineage_post.count_by_state() }}
    from nodes
    group by resource_type
),

column_counts as (
    select
        resource_type,
        count(*) as all_count,
        {{ lineage_post.count_by_state() }}
    from columns
    group by resource_type
),

final as (
    select
        node_counts.resource_type,
        cast(node_counts.all_count as {{ dbt.type_int() }}) as nodes,
        cast(node_counts.known_count as {{ dbt.type_int() }}) as nodes_known,
        cast(node_counts.partial_count as {{ dbt.type_int() }}) as nodes_partial,
        cast(node_counts.unknown_count as {{ dbt.type_int() }}) as nodes_unknown,
        cast(coalesce(column_counts.all_count, 0) as {{ dbt.type_int() }}) as columns,
        cast(coalesce(column_counts.known_count, 0) as {{ dbt.type_int() }}) as columns_known,
        cast(coalesce(column_counts.partial_count, 0) as {{ dbt.type_int() }}) as columns_partial,
        cast(coalesce(column_counts.unknown_count, 0) as {{ dbt.type_int() }}) as columns_unknown,
        cast(coalesce(unparsed.node_count, 0) as {{ dbt.type_int() }}) as nodes_unparsed
    from node_counts
    left join column_counts on node_counts.resource_type = column_counts.resource_type
    left join unparsed on node_counts.resource_type = unparsed.resource_type
)

select * from final
