{% if target.type == 'postgres' -%}
select distinct on (customer_id)
    customer_id,
    channel as first_channel,
    started_at as first_seen_at
from {{ ref('stg_web_sessions') }}
order by customer_id, started_at
{%- else -%}
select
    customer_id,
    channel as first_channel,
    started_at as first_seen_at
from {{ ref('stg_web_sessions') }}
qualify row_number() over (partition by customer_id order by started_at) = 1
{%- endif %}
