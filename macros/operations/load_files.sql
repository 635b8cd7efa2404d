{#- Without the Python side: the warehouse reads the files itself, where it can. -#}
{% macro load_files(directory) %}
    {{ return(adapter.dispatch('load_files', 'lineage_post')(directory)) }}
{% endmacro %}

{% macro default__load_files(directory) %}
    {%- do exceptions.raise_compiler_error(
        'lineage_post: rows can be loaded into ' ~ target.type ~ ' only with the Python side in dbt\'s'
        ~ ' process. Install it beside dbt (pip install dbt-lineage-post), then run'
        ~ ' `dbt run-operation lineage_post.load` again.'
    ) -%}
{% endmacro %}

{% macro duckdb__load_files(directory) %}
    {%- set relations = lineage_post.base_relations() -%}
    {%- set missing = lineage_post.missing_tables(relations) -%}
    {%- if missing -%}{%- do exceptions.raise_compiler_error(missing) -%}{%- endif -%}
    {#- The refreshes come last: they are the commit point. -#}
    {%- set keys = {
        'lineage_nodes': ['node', 'definition_version'],
        'lineage_edges': ['fingerprint'],
        'lineage_columns': ['fingerprint'],
        'lineage_refreshes': ['run_id', 'node', 'producer'],
    } -%}
    {%- for table in ['lineage_nodes', 'lineage_edges', 'lineage_columns', 'lineage_refreshes'] -%}
        {%- set relation = relations[table] -%}
        {%- set known = relations['lineage_refreshes'] if keys[table] == ['fingerprint'] else relation -%}
        {%- set columns = adapter.get_columns_in_relation(relation) -%}
        {%- call statement('load_' ~ table, auto_begin=True) -%}
            insert into {{ relation }} ({{ columns | map(attribute='name') | join(', ') }})
            select
                {%- for column in columns %}
                {% if column.name == 'recorded_at' -%}
                coalesce(recorded_at, cast(now() at time zone 'utc' as timestamp))
                {%- else -%}
                {{ column.name }}
                {%- endif %}{{ ',' if not loop.last }}
                {%- endfor %}
            from read_json(
                '{{ directory | replace("'", "''") }}/{{ table }}.jsonl',
                format = 'newline_delimited',
                columns = { {%- for column in columns %}
                    '{{ column.name }}': '{{ column.dtype }}'{{ ',' if not loop.last }}
                {%- endfor %} }
            ) as new_rows
            where not exists (
                select 1
                from {{ known }} as known
                where {% for key in keys[table] -%}
                    known.{{ key }} = new_rows.{{ key }}{{ ' and ' if not loop.last }}
                {%- endfor %}
            )
        {%- endcall -%}
    {%- endfor -%}
    {%- do adapter.commit() -%}
    {%- do log('lineage_post: loaded the rows in ' ~ directory, info=True) -%}
{% endmacro %}
