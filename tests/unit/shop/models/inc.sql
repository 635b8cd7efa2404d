{{ config(materialized='incremental', unique_key='order_id') }}
select order_id, amount2 from {{ ref('fct') }}
{% if is_incremental() %} where order_id > (select max(order_id) from {{ this }}) {% endif %}
