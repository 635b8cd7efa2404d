def model(dbt, session):
    return dbt.ref("stg_orders")
