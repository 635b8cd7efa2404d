select e.event_id, e.kind, o.status
from {{ source('app', 'events') }} as e
inner join {{ source('app', 'orders_table') }} as o on e.order_id = o.order_id
