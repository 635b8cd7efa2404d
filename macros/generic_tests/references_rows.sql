{#- Fails for each row whose key columns, all not null, stand in no row of `to`. -#}
{% test references_rows(model, columns, to) %}
    {{ return(adapter.dispatch('test_references_rows', 'lineage_post')(model, columns, to)) }}
{% endtest %}

{% macro default__test_references_rows(model, columns, to) %}
    select distinct
        {% for column in columns -%}
        referencing.{{ column }}{{ ',' if not loop.last }}
        {% endfor %}
    from {{ model }} as referencing
    left join {{ to }} as referenced
        on {% for column in columns -%}
        referencing.{{ column }} = referenced.{{ column }}{{ ' and ' if not loop.last }}
        {%- endfor %}
    where
        referenced.{{ columns[0] }} is null
        {%- for column in columns %}
        and referencing.{{ column }} is not null
        {%- endfor %}
{% endmacro %}
