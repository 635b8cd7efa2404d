{{ config(materialized='view') }}
with final as (
    {{ lineage_post.cycles() }}
)

select * from final
