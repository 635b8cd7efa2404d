select
    customer_id,
    channel as first_channel,
    started_at as first_seen_at
from {{ ref('stg_web_sessions') }}
qualify row_number() over (partition by customer_id order by started_at) = 1
