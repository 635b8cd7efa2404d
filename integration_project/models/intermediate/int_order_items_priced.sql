{{ config(materialized='ephemeral') }}

select
    order_item_id,
    order_id,
    product_id,
    quantity,
    quantity * unit_price as gross_amount,
    cast(quantity * unit_price * (100 - discount_percent) / 100 as decimal(12, 2)) as net_amount
from {{ ref('stg_order_items') }}
where quantity > 0
