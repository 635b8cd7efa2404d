{#-
    The labels that the project declares on columns, as rows of (node, column_name, label, effect):
    `declared` for tags and classifying meta keys, `declassified` for those that end at a column,
    with the label `*` where all of them do. From the parsed project, so they are those of this run.
-#}
{% macro column_labels() %}
    {{ return(adapter.dispatch('column_labels', 'lineage_post')()) }}
{% endmacro %}

{% macro default__column_labels() %}
    {%- set rows = lineage_post.declared_labels() -%}
    {%- for row in rows %}
    select
        {%- for value in row %}
        cast({{ lineage_post.text_literal(value) }} as {{ dbt.type_string() }})
        {%- if loop.first %} as node{% elif loop.index == 2 %} as column_name
        {%- elif loop.index == 3 %} as label{% else %} as effect{% endif %}
        {{- ',' if not loop.last }}
        {%- endfor %}
        {{ 'union all' if not loop.last }}
    {%- else %}
    select
        cast(null as {{ dbt.type_string() }}) as node,
        cast(null as {{ dbt.type_string() }}) as column_name,
        cast(null as {{ dbt.type_string() }}) as label,
        cast(null as {{ dbt.type_string() }}) as effect
    from (select 1 as nothing) as nothing
    where 1 = 0
    {%- endfor %}
{% endmacro %}

{#- Spark plans a list of values as one relation, and a union as many. -#}
{% macro spark__column_labels() %}
    {%- set rows = lineage_post.declared_labels() -%}
    {%- if not rows -%}{{ return(lineage_post.default__column_labels()) }}{%- endif -%}
    select node, column_name, label, effect
    from values
    {%- for row in rows %}
        ({% for value in row %}{{ lineage_post.text_literal(value) }}{{ ', ' if not loop.last }}{% endfor %})
        {{- ',' if not loop.last }}
    {%- endfor %}
        as every_row (node, column_name, label, effect)
{% endmacro %}

{#- They as lists of four. -#}
{% macro declared_labels() %}
    {%- set rows = [] -%}
    {%- if execute -%}
        {%- for resources in [graph.nodes, graph.sources] -%}
            {%- for node in resources.values() -%}
                {%- if node.resource_type in ['model', 'snapshot', 'seed', 'source'] -%}
                    {%- for column in (node.columns or {}).values() -%}
                        {%- set found = lineage_post.labels_of_column(column) -%}
                        {%- for label in found.declared -%}
                            {%- do rows.append([node.unique_id, column.name, label, 'declared']) -%}
                        {%- endfor -%}
                        {%- for label in found.declassified -%}
                            {%- do rows.append([node.unique_id, column.name, label, 'declassified']) -%}
                        {%- endfor -%}
                    {%- endfor -%}
                {%- endif -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(rows | sort) }}
{% endmacro %}

{#- The labels of one column: its tags, and the meta keys that classify, below config or not. -#}
{% macro labels_of_column(column) %}
    {%- set config = column.config or {} -%}
    {%- set meta = {} -%}
    {%- do meta.update(config.get('meta') or {}) -%}
    {%- do meta.update(column.meta or {}) -%}
    {%- set declared = [] -%}
    {%- for tags in [column.tags, config.get('tags')] -%}
        {%- do declared.extend([tags] if tags is string else (tags or [])) -%}
    {%- endfor -%}
    {%- for key in [
        'classification', 'contains_pii', 'data_classification', 'pci', 'phi', 'pii', 'sensitive',
        'sensitivity'
    ] -%}
        {%- set values = meta.get(key) -%}
        {%- for value in (values if values is sequence and values is not string else [values]) -%}
            {%- set text = (value | string | trim) -%}
            {%- if text | lower in ['true', 'yes'] -%}
                {%- do declared.append(key) -%}
            {%- elif value is not none and value is not mapping
                and text | lower not in ['', 'false', 'no', 'none', 'null'] -%}
                {%- do declared.append(key ~ '=' ~ text) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set own = meta.get('lineage') -%}
    {%- set ended = own.get('declassify') if own is mapping else none -%}
    {%- if ended is sameas true -%}
        {%- set ended = ['*'] -%}
    {%- elif ended is string -%}
        {%- set ended = [ended] -%}
    {%- endif -%}
    {{ return({'declared': declared | unique | list, 'declassified': (ended or []) | unique | list}) }}
{% endmacro %}
