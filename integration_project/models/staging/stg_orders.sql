select
    id as order_id,
    customer_id,
    status,
    currency_code,
    cast(ordered_at as timestamp) as ordered_at
from {{ ref('raw_orders') }}
