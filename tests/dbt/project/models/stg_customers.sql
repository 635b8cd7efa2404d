select * from {{ source('app', 'customers') }}
