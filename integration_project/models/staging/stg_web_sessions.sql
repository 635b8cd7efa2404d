select
    session_id,
    visitor_customer_id as customer_id,
    channel,
    started_at,
    page_views
from {{ source('web', 'web_sessions') }}
