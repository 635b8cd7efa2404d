{{ config(materialized='view') }}
with final as (
    {{ lineage_post.built_from() }}
)

select * from final
