{{ config(materialized='table') }}
select
    user_id,
    email as contact,
    email_hash,
    upper(full_name) as display_name,
    email like '%@%' as has_email,
    city
from {{ ref('stg_users') }}
