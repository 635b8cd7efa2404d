select
    country,
    sum(amount) as amount,
    count(*) as user_count
from {{ ref('stg_users') }}
group by country
