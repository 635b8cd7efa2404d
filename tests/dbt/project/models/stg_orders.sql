select
    id as order_id,
    customer_id,
    cast(amount as integer) as amount,
    cast(ordered_at as timestamp) as ordered_at
from {{ ref('raw_orders') }}
