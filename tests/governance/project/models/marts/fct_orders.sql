{{ config(materialized='incremental', unique_key='order_id') }}
select
    orders.order_id,
    orders.user_id,
    orders.amount,
    users.contact as sent_to
from {{ ref('stg_orders') }} as orders
left join {{ ref('dim_users') }} as users on orders.user_id = users.user_id
