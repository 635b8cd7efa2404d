{#-
    The select of a base table. The hook appends the rows, so that it is empty, and only fixes the
    shape. A user's setting for all models of a project goes before a package's own, though: where
    it makes the table anew on each run, the select is what stands in the table, and nothing is lost.

    `columns` is a list of (name, type). Not every adapter takes a `where` without a `from`.
-#}
{% macro base_rows(columns) %}
    {%- set existing = lineage_post.existing_columns() if execute and not is_incremental() else [] %}
    select
        {%- for name, type in columns %}
        cast({{ name if name in existing else 'null' }} as {{ type }}) as {{ name }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    {%- if existing %}
    from {{ this }}
    {%- else %}
    from (select 1 as nothing) as nothing
    where 1 = 0
    {%- endif %}
{% endmacro %}

{#- The columns of this model's table, in lower case; empty where there is none yet. -#}
{% macro existing_columns() %}
    {%- set relation = load_relation(this) -%}
    {%- if not relation or relation.is_view -%}{{ return([]) }}{%- endif -%}
    {%- if config.get('materialized') == 'view' -%}
        {%- do exceptions.raise_compiler_error(
            'lineage_post: ' ~ this ~ ' holds recorded lineage and cannot become a view. In'
            ~ ' dbt_project.yml, set `models: lineage_post: base: +materialized: incremental`.'
        ) -%}
    {%- endif -%}
    {{ return(adapter.get_columns_in_relation(relation) | map(attribute='name') | map('lower') | list) }}
{% endmacro %}
