{% macro create_udfs() %}
    create or replace function to_eur(amount, rate_to_eur) as
        cast(round(amount * rate_to_eur, 2) as decimal(12, 2))
{% endmacro %}
