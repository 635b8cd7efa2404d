{{ config(materialized='table') }}
with customers as (
    select * from {{ ref('stg_customers') }}
),

orders as (
    select * from {{ ref('big_orders') }}
)

select
    customers.customer_id,
    md5(customers.email) as email_hash,
    sum(orders.amount) as revenue
from customers
inner join orders on customers.customer_id = orders.customer_id
group by customers.customer_id, customers.email
