select
    id as order_item_id,
    order_id,
    product_id,
    quantity,
    {{ cents_to_units('unit_price_cents') }} as unit_price,
    discount_percent
from {{ ref('raw_order_items') }}
