{#- Fails for each combination of these columns that stands in more than one row. -#}
{% test unique_rows(model, columns) %}
    {{ return(adapter.dispatch('test_unique_rows', 'lineage_post')(model, columns)) }}
{% endtest %}

{% macro default__test_unique_rows(model, columns) %}
    select
        {{ columns | join(',\n        ') }},
        count(*) as row_count
    from {{ model }}
    group by
        {{ columns | join(',\n        ') }}
    having count(*) > 1
{% endmacro %}
