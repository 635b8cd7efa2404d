{{ config(materialized='ephemeral') }}
select order_id, amount from {{ ref('stg_orders') }} where status = 'paid'
