{{ config(materialized='view') }}
select visitor, count(*) as pages from {{ source('web', 'visits') }} group by 1
