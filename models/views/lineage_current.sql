{{ config(materialized='view') }}
with refreshes as (
    {{ lineage_post.current_refreshes() }}
),

planned as (
    {{ lineage_post.planned_definitions() }}
),

newer as (
    select
        refreshes.node,
        refreshes.producer,
        planned.definition_version as planned_definition_version,
        planned.refreshed_at as planned_at
    from refreshes
    inner join planned on refreshes.node = planned.node
    where
        refreshes.status = 'success'
        and planned.refreshed_at > refreshes.refreshed_at
        and (
            {{ lineage_post.is_other_definition(
                'planned.definition_version', 'refreshes.definition_version', 'refreshes.build_mode'
            ) }}
        )
),

final as (
    select
        refreshes.*,
        newer.planned_definition_version,
        newer.planned_at
    from refreshes
    left join newer on refreshes.node = newer.node and refreshes.producer = newer.producer
)

select * from final
