select order_id, amount as price from {{ ref('stg_orders') }}
