select
    id as order_id,
    customer_id,
    cast(ordered_at as date) as ordered_on,
    status,
    amount / 100.0 as amount
from {{ ref('raw_orders') }}
where status is not null
