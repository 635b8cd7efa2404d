{#-
    1 where a claim was last confirmed longer ago than `stale_after_days` allows its producer, else 0.
    The option is a number of days for all producers, or a mapping by producer with `default` for the
    others; 0 is never. `now` is the time it is judged at.
-#}
{% macro is_stale(producer, confirmed_at, now) %}
    {%- set days = var('lineage_post', {}).get('stale_after_days', 0) -%}
    {%- set by_producer = days if days is mapping else {'default': days} -%}
    {%- set default = by_producer.get('default', 0) | int -%}
    {%- set cases = [] -%}
    {%- for name, limit in by_producer.items() if name != 'default' -%}
        {%- do cases.append(
            "when " ~ producer ~ " = '" ~ (name | replace("'", "''")) ~ "' then "
            ~ lineage_post.is_older(confirmed_at, limit | int, now)
        ) -%}
    {%- endfor -%}
    {%- set otherwise = lineage_post.is_older(confirmed_at, default, now) -%}
    {{- return('case ' ~ cases | join(' ') ~ ' else ' ~ otherwise ~ ' end' if cases else otherwise) -}}
{% endmacro %}

{% macro is_older(at, days, now) %}
    {%- if days <= 0 -%}{{ return('0') }}{%- endif -%}
    {{- return('case when ' ~ at ~ ' < ' ~ dbt.dateadd('day', -days, now) ~ ' then 1 else 0 end') -}}
{% endmacro %}
