with customers as (

    select * from {{ ref('stg_customers') }}

),

orders as (

    select
        customer_id,
        min(ordered_at) as first_ordered_at,
        max(ordered_at) as last_ordered_at,
        count(*) as order_count,
        sum(revenue) as lifetime_value
    from {{ ref('fct_orders') }}
    group by customer_id

)

select
    customers.customer_id,
    customers.email_hash,
    md5(customers.first_name || ' ' || customers.last_name) as name_hash,
    customers.country_code,
    customers.signed_up_at,
    customers.marketing_opt_in,
    first_touch.first_channel,
    orders.first_ordered_at,
    orders.last_ordered_at,
    coalesce(orders.order_count, 0) as order_count,
    coalesce(orders.lifetime_value, 0) as lifetime_value,
    case
        when orders.lifetime_value >= 500 then 'gold'
        when orders.order_count > 1 then 'silver'
        else 'new'
    end as segment
from customers
left join orders using (customer_id)
left join {{ ref('int_first_touch') }} as first_touch using (customer_id)
