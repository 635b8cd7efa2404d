select * from {{ target.schema }}.outside
