{{ config(materialized='view') }}
with final as (
    {{ lineage_post.current_edges() }}
)

select * from final
