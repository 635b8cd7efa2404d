select
    user_id,
    md5(email) as email_hash,
    lower(email) as contact,
    amount,
    amount * 2 as doubled,
    amount * 1.0 / sum(amount) over () as share,
    country || ':' || email as label,
    case when email like 'a%' then 1 else 0 end as begins_with_a
from {{ ref('stg_users') }}
