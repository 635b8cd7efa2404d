with orders as (

    select * from {{ ref('stg_orders') }}

),

items as (

    select
        order_id,
        count(*) as item_count,
        sum(net_amount) as net_amount
    from {{ ref('int_order_items_priced') }}
    group by order_id

),

final as (

    select
        orders.order_id,
        orders.customer_id,
        orders.status,
        orders.ordered_at,
        orders.currency_code,
        items.item_count,
        to_eur(items.net_amount, currencies.rate_to_eur) as net_amount_eur,
        to_eur(coalesce(payments.paid_amount, 0), currencies.rate_to_eur) as paid_amount_eur,
        payments.last_paid_at
    from orders
    inner join items using (order_id)
    left join {{ ref('int_order_payments') }} as payments using (order_id)
    left join {{ ref('stg_currencies') }} as currencies
        on orders.currency_code = currencies.currency_code

)

select * from final
