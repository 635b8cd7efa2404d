{{ config(materialized='table') }}
select city, string_agg(contact, ',') as contacts, count(*) as users
from {{ ref('dim_users') }}
where contact is not null
group by city
