select contact as address from {{ ref('dim_users') }}
union all
select sent_to from {{ ref('fct_orders') }}
