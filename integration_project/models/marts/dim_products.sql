with prices as (

    select
        id as product_id,
        list_price_cents,
        dbt_valid_from as price_valid_from
    from {{ ref('snap_products') }}
    where dbt_valid_to is null

),

sold as (

    select
        product_id,
        sum(quantity) as units_sold,
        sum(net_amount) as net_sales
    from {{ ref('int_order_items_priced') }}
    group by product_id

)

select
    products.product_id,
    products.sku,
    products.name as product_name,
    products.category,
    {{ cents_to_units('prices.list_price_cents') }} as list_price,
    prices.price_valid_from,
    products.list_price - products.unit_cost as unit_margin,
    coalesce(sold.units_sold, 0) as units_sold,
    rank() over (partition by products.category order by sold.net_sales desc) as rank_in_category
from {{ ref('stg_products') }} as products
left join prices on products.product_id = prices.product_id
left join sold on products.product_id = sold.product_id
