{#- What the models need and dbt does not build. -#}
{% macro prepare_warehouse() %}
    {{- return(adapter.dispatch('prepare_warehouse', 'shop')()) -}}
{% endmacro %}

{% macro default__prepare_warehouse() %}
    create or replace function to_eur(amount, rate_to_eur) as
        cast(round(amount * rate_to_eur, 2) as decimal(12, 2))
{% endmacro %}

{#- Postgres cannot read the tracker's files in place: a loader would fill this table. -#}
{% macro postgres__prepare_warehouse() %}
    create or replace function to_eur(amount numeric, rate_to_eur numeric) returns numeric
        language sql immutable
        as 'select cast(round(amount * rate_to_eur, 2) as decimal(12, 2))';
    create schema if not exists web;
    create table if not exists web.web_sessions (
        session_id varchar,
        visitor_customer_id bigint,
        channel varchar,
        started_at timestamp,
        page_views bigint
    )
{% endmacro %}
