select
    code as currency_code,
    name as currency_name,
    cast(rate_to_eur as decimal(10, 4)) as rate_to_eur
from {{ ref('raw_currencies') }}
