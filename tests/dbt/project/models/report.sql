select revenue * 2 as doubled from {{ ref('fct_customers') }}
