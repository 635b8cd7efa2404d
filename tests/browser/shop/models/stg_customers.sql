select
    id as customer_id,
    full_name,
    md5(email) as email_hash,
    country
from {{ ref('raw_customers') }}
