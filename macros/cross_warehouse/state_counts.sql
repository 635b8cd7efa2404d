{#- Orders the states, so that max() is the best one. -#}
{% macro state_rank(column) %}
    {{- return("case " ~ column ~ " when 'known' then 2 when 'partial' then 1 else 0 end") -}}
{% endmacro %}

{% macro count_by_state() -%}
    sum(case when state_rank = 2 then 1 else 0 end) as known_count,
    sum(case when state_rank = 1 then 1 else 0 end) as partial_count,
    sum(case when state_rank = 0 then 1 else 0 end) as unknown_count
{%- endmacro %}
