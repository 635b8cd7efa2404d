select
    id as payment_id,
    order_id,
    method as payment_method,
    {{ cents_to_units('amount_cents') }} as amount,
    cast(paid_at as timestamp) as paid_at
from {{ ref('raw_payments') }}
where status = 'settled'
