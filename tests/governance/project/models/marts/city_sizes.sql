select city, users from {{ ref('city_contacts') }}
