-- Reads what another model builds, and a table that is no node, by their names.
select o.order_id, o.amount2, x.note
from {{ target.database }}.main.fct as o
left join {{ target.database }}.main.notes as x on o.order_id = x.order_id
