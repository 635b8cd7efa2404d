{{ config(materialized='view') }}
with final as (
    {{ lineage_post.column_tags(var('lineage_tags_depth', 12) | int) }}
)

select * from final
