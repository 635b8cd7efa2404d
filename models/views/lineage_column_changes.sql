{{ config(materialized='view') }}
with final as (
    {{ lineage_post.column_changes() }}
)

select * from final
