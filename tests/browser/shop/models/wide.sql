select
    order_id,
    {%- for i in range(80) %}
    amount * {{ i }} as amount_{{ i }}{{ "," if not loop.last }}
    {%- endfor %}
from {{ ref('stg_orders') }}
