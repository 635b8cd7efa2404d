select
    id as user_id,
    email,
    full_name,
    md5(email) as email_hash,
    city
from {{ ref('raw_users') }}
