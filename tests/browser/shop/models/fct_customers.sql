select
    customers.customer_id,
    customers.full_name,
    customers.email_hash,
    sum(case when orders.status = 'paid' then orders.amount end) as revenue,
    count(*) as orders,
    min(orders.ordered_on) as first_order_on,
    'EUR' as currency
from {{ ref('stg_customers') }} as customers
left join {{ ref('stg_orders') }} as orders
    on orders.customer_id = customers.customer_id
group by 1, 2, 3
