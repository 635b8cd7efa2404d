with source as (

    select * from {{ ref('raw_customers') }}

),

renamed as (

    select
        id as customer_id,
        first_name,
        last_name,
        lower(email) as email,
        md5(lower(email)) as email_hash,
        phone,
        country_code,
        cast(signed_up_at as timestamp) as signed_up_at,
        marketing_opt_in
    from source

)

select * from renamed
