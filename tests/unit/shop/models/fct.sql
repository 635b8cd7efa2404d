{{ config(materialized='table') }}
select e.order_id, e.amount2, s.customer_id from {{ ref('eph2') }} e join {{ ref('stg_orders') }} s using (order_id)
