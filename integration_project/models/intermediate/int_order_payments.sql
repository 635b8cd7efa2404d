{% set payment_methods = ['card', 'paypal', 'invoice', 'gift_card'] %}

select
    order_id,
    {%- for method in payment_methods %}
    sum(amount) filter (where payment_method = '{{ method }}') as {{ method }}_amount,
    {%- endfor %}
    sum(amount) as paid_amount,
    max(paid_at) as last_paid_at
from {{ ref('stg_payments') }}
group by order_id
