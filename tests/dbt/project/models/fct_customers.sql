{{ config(materialized='table') }}
select
    customers.customer_id,
    md5(customers.email) as email_hash,
    sum(orders.amount) as revenue
from {{ ref('stg_customers') }} as customers
inner join {{ ref('big_orders') }} as orders on customers.customer_id = orders.customer_id
group by customers.customer_id, customers.email
