{{ config(materialized='view') }}
with current_refreshes as (
    {{ lineage_post.current_refreshes() }}
),

nodes as (
    select
        node,
        'node' as grain,
        cast(null as {{ dbt.type_string() }}) as column_name,
        state,
        reason,
        producer,
        refreshed_at
    from current_refreshes
    where state <> 'known'
),

columns as (
    select distinct
        current_refreshes.node,
        case when lineage_columns.column_name is null then 'rows' else 'column' end as grain,
        lineage_columns.column_name,
        lineage_columns.state,
        lineage_columns.reason,
        current_refreshes.producer,
        current_refreshes.refreshed_at
    from current_refreshes
    inner join {{ lineage_post.all_rows(ref('lineage_columns')) }} as lineage_columns
        on current_refreshes.fingerprint = lineage_columns.fingerprint
    where lineage_columns.state <> 'known'
),

final as (
    select * from nodes
    union all
    select * from columns
)

select * from final
