{{ config(materialized='view') }}
with final as (
    {{ lineage_post.unused_columns() }}
)

select * from final
