select
    id as user_id,
    email,
    country,
    amount
from {{ ref('raw_users') }}
