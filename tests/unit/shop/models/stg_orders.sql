{{ config(alias='stg_orders_t', tags=['x']) }}
select id as order_id, customer_id, amount, status, updated_at::timestamp as updated_at from {{ ref('raw_orders') }}
