select a.order_id from {{ ref('ver') }} a join {{ ref('ver', v=1) }} b using (order_id)
