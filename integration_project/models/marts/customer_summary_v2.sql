select
    customer_id,
    order_count as orders,
    lifetime_value,
    segment
from {{ ref('dim_customers') }}
where order_count > 0
