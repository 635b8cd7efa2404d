with source as (

    select * from {{ ref('raw_products') }}

)

select
    {% if target.type == 'postgres' -%}
    sku,
    name,
    category,
    updated_at,
    {%- else -%}
    * exclude (id, list_price_cents, unit_cost_cents),
    {%- endif %}
    id as product_id,
    {{ cents_to_units('list_price_cents') }} as list_price,
    {{ cents_to_units('unit_cost_cents') }} as unit_cost
from source
