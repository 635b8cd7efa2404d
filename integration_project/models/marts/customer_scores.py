WEIGHTS = {"order_count": 0.4, "lifetime_value": 0.004}


def model(dbt, session):
    dbt.config(materialized="table", schema="marts")
    customers = dbt.ref("dim_customers")
    score = " + ".join(f"{weight} * {column}" for column, weight in WEIGHTS.items())
    return customers.project(f"customer_id, cast(least({score}, 10) as double) as score")
