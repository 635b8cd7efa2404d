select order_id, amount as price, amount * 0.19 as tax from {{ ref('stg_orders') }}
