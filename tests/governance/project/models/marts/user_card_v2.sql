select user_id, contact, display_name from {{ ref('dim_users') }}
