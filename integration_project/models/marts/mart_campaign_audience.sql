select
    scores.customer_id,
    customers.email_hash,
    customers.first_channel,
    scores.score
from {{ ref('customer_scores') }} as scores
inner join {{ ref('customer_summary', v=2) }} as summary
    on scores.customer_id = summary.customer_id
inner join {{ ref('dim_customers') }} as customers
    on scores.customer_id = customers.customer_id
where customers.marketing_opt_in
    and summary.segment <> 'new'
