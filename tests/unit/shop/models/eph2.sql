{{ config(materialized='ephemeral') }}
select order_id, amount * 2 as amount2 from {{ ref('eph') }}
