{{
    config(
        materialized='incremental',
        unique_key='order_id',
        on_schema_change='append_new_columns'
    )
}}

with numbered as (

    select
        *,
        row_number() over (
            partition by customer_id
            order by ordered_at, order_id
        ) as customer_order_number
    from {{ ref('int_orders_enriched') }}

)

select
    order_id,
    customer_id,
    ordered_at,
    status,
    item_count,
    case when status in ('cancelled', 'returned') then 0 else net_amount_eur end as revenue,
    paid_amount_eur,
    net_amount_eur - paid_amount_eur as open_amount_eur,
    customer_order_number
from numbered
{% if is_incremental() %}
where ordered_at >= (select max(ordered_at) - interval '3 days' from {{ this }})
{% endif %}
