{{ config(materialized='view') }}
with final as (
    {{ lineage_post.table_edges() }}
)

select * from final
