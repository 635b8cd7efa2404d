{{ config(materialized='view') }}
-- A producer denies what it could have seen: it knows the lineage of the node and, of a column, that
-- column; it asserts edges of the same type at all, and reads of other columns.
with current_refreshes as (
    {{ lineage_post.current_refreshes() }}
),

edges as (
    select distinct
        current_refreshes.producer,
        lineage_edges.from_node,
        lower(lineage_edges.from_column) as from_column,
        lineage_edges.to_node,
        lower(lineage_edges.to_column) as to_column,
        lineage_edges.type
    from current_refreshes
    inner join {{ lineage_post.all_rows(ref('lineage_edges')) }} as lineage_edges
        on
            current_refreshes.fingerprint = lineage_edges.fingerprint
            and current_refreshes.node = lineage_edges.to_node
),

inputs as (
    {{ lineage_post.unnest_inputs('current_refreshes') }}
),

table_claims as (
    select producer, from_node, to_node from edges
    union
    select producer, input_node as from_node, node as to_node from inputs
),

-- Who could have seen what: a node, a column of it, edges of a type.
able_nodes as (
    select
        node,
        producer
    from current_refreshes
    where state = 'known' and status <> 'derived'
),

able_columns as (
    select distinct
        current_refreshes.node,
        current_refreshes.producer,
        lower(lineage_columns.column_name) as column_name
    from current_refreshes
    inner join {{ lineage_post.all_rows(ref('lineage_columns')) }} as lineage_columns
        on current_refreshes.fingerprint = lineage_columns.fingerprint
    where lineage_columns.state = 'known' and lineage_columns.column_name is not null
),

able_types as (
    select distinct
        producer,
        type
    from edges
),

denied_tables as (
    select
        'table' as grain,
        asserted.from_node,
        cast(null as {{ dbt.type_string() }}) as from_column,
        asserted.to_node,
        cast(null as {{ dbt.type_string() }}) as to_column,
        cast(null as {{ dbt.type_string() }}) as type,
        asserted.producer as asserted_by,
        able_nodes.producer as denied_by
    from table_claims as asserted
    inner join able_nodes
        on asserted.to_node = able_nodes.node and asserted.producer <> able_nodes.producer
    left join table_claims as other
        on
            other.producer = able_nodes.producer
            and other.from_node = asserted.from_node
            and other.to_node = asserted.to_node
    where other.from_node is null and asserted.from_node <> asserted.to_node
),

denied_columns as (
    select
        'column' as grain,
        asserted.from_node,
        asserted.from_column,
        asserted.to_node,
        asserted.to_column,
        asserted.type,
        asserted.producer as asserted_by,
        able_nodes.producer as denied_by
    from edges as asserted
    inner join able_nodes
        on asserted.to_node = able_nodes.node and asserted.producer <> able_nodes.producer
    inner join able_types
        on able_nodes.producer = able_types.producer and asserted.type = able_types.type
    left join able_columns
        on
            able_nodes.node = able_columns.node
            and able_nodes.producer = able_columns.producer
            and asserted.to_column = able_columns.column_name
    left join edges as other
        on
            other.producer = able_nodes.producer
            and other.from_node = asserted.from_node
            and other.from_column = asserted.from_column
            and other.to_node = asserted.to_node
            and coalesce(other.to_column, '') = coalesce(asserted.to_column, '')
            and other.type = asserted.type
    where
        other.from_node is null
        and (asserted.to_column is null or able_columns.column_name is not null)
),

final as (
    select * from denied_tables
    union all
    select * from denied_columns
)

select * from final
