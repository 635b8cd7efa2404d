select order_id from {{ ref('fct') }}
