{{ config(materialized='view') }}
with final as (
    {{ lineage_post.claims() }}
)

select * from final
