{{ config(materialized='view') }}
with final as (
    {{ lineage_post.current_refreshes() }}
)

select * from final
