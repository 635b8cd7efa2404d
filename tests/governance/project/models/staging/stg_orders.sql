select id as order_id, user_id, amount from {{ ref('raw_orders') }}
