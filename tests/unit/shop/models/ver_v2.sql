select order_id, customer_id from {{ ref('fct') }}
