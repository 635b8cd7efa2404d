with orders as (

    select * from {{ ref('fct_orders') }}

),

daily as (

    select
        cast(date_trunc('day', ordered_at) as date) as order_date,
        count(*) as order_count,
        count(distinct customer_id) as customer_count,
        sum(revenue) as revenue
    from orders
    where status <> 'cancelled'
    group by 1

)

select
    order_date,
    order_count,
    customer_count,
    revenue,
    sum(revenue) over (
        order by order_date
        range between interval '6 days' preceding and current row
    ) as revenue_7_days
from daily
