select
    customer_id,
    order_count,
    lifetime_value
from {{ ref('dim_customers') }}
