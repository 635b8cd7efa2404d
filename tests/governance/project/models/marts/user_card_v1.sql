select user_id, contact from {{ ref('dim_users') }}
