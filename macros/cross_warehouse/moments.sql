{#-
    A time as a literal in UTC, or none. `value` is a date, which stands for its end, a time in ISO
    form, with a zone or in UTC, or a datetime such as run_started_at. `argument` is its name in the
    error that is raised for anything else.
-#}
{% macro moment(value, argument) %}
    {%- if value is none -%}{{ return(none) }}{%- endif -%}
    {%- set text = value.isoformat() if value.isoformat else (value | string | trim) -%}
    {%- set shape = '^\\d{4}-\\d\\d-\\d\\d([T ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,6})?)?(Z|[+-]\\d\\d:?\\d\\d)?)?$' -%}
    {%- if not modules.re.match(shape, text) -%}
        {%- do exceptions.raise_compiler_error(
            "lineage_post: " ~ argument ~ " is '" ~ text ~ "', which is no time. Write a date or a time"
            ~ " as in 2026-03-31 or 2026-03-31T18:00:00+02:00."
        ) -%}
    {%- endif -%}
    {%- if text | length == 10 -%}
        {{ return(lineage_post.timestamp_literal(text ~ ' 23:59:59.999999')) }}
    {%- endif -%}
    {%- set zone = modules.re.search('(Z|[+-]\\d\\d:?\\d\\d)$', text[10:]) -%}
    {%- set naive = text[: text | length - (zone.group(0) | length if zone else 0)] | replace('T', ' ') -%}
    {%- set naive = naive ~ (':00' if naive | length == 16 else '') -%}
    {%- set form = '%Y-%m-%d %H:%M:%S' ~ ('.%f' if '.' in naive else '') -%}
    {%- set at = modules.datetime.datetime.strptime(naive, form) -%}
    {%- if zone and zone.group(0) != 'Z' -%}
        {%- set digits = zone.group(0) | replace(':', '') -%}
        {%- set minutes = digits[1:3] | int * 60 + digits[3:5] | int -%}
        {%- set offset = modules.datetime.timedelta(minutes=minutes) -%}
        {%- set at = at - offset if digits[0] == '+' else at + offset -%}
    {%- endif -%}
    {{ return(lineage_post.timestamp_literal(at.strftime('%Y-%m-%d %H:%M:%S.%f'))) }}
{% endmacro %}

{% macro timestamp_literal(text) %}
    {{- return("cast('" ~ text ~ "' as " ~ dbt.type_timestamp() ~ ")") -}}
{% endmacro %}

{#- The present time in UTC, in the type of the tables' times. -#}
{% macro utc_now() %}
    {{- return(adapter.dispatch('utc_now', 'lineage_post')()) -}}
{% endmacro %}

{% macro default__utc_now() %}
    {{- return('cast(' ~ dbt.current_timestamp() ~ ' as ' ~ dbt.type_timestamp() ~ ')') -}}
{% endmacro %}

{% macro duckdb__utc_now() %}
    {{- return("cast(now() at time zone 'utc' as timestamp)") -}}
{% endmacro %}

{% macro postgres__utc_now() %}
    {{- return("(now() at time zone 'utc')") -}}
{% endmacro %}

{% macro redshift__utc_now() %}
    {{- return('cast(getdate() as timestamp)') -}}
{% endmacro %}

{% macro snowflake__utc_now() %}
    {{- return("cast(convert_timezone('UTC', current_timestamp()) as timestamp_ntz)") -}}
{% endmacro %}

{% macro bigquery__utc_now() %}
    {{- return('current_timestamp()') -}}
{% endmacro %}

{#- The tables' times were written as text without a zone, and so in the session's. -#}
{% macro spark__utc_now() %}
    {{- return('to_utc_timestamp(current_timestamp(), current_timezone())') -}}
{% endmacro %}

{% macro trino__utc_now() %}
    {{- return("cast(current_timestamp at time zone 'UTC' as timestamp(6))") -}}
{% endmacro %}
