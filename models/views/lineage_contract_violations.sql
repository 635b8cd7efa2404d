{{ config(materialized='view') }}
with final as (
    {{ lineage_post.contract_violations() }}
)

select * from final
