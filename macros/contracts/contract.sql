{#-
    The query of a contract test: its failing rows, each with the path that breaks the contract. A
    contract that cannot be checked is a failing row too; none ever passes unseen.

    The Python side answers, in this very process, of the project as it is now. Where it is not
    there, what is recorded in the lineage tables is walked.
-#}
{% macro contract(kind, relation, column_name, arguments, nested=none) %}
    {#- dbt before 1.11 hands `arguments:` over as it stands. -#}
    {%- set given = dict(arguments, **(nested or {})) -%}
    {%- if column_name -%}{%- do given.update({'column_name': column_name}) -%}{%- endif -%}
    {%- if not execute -%}{{ return(lineage_post.contract_rows([])) }}{%- endif -%}
    {%- set unique_id = lineage_post.contract_node(relation) -%}
    {%- set bridge = lineage_post.bridge() -%}
    {%- if bridge is not none -%}
        {%- set rows = bridge.contract(
            kind, unique_id, given, var('lineage_post', {}), dbt.type_timestamp()
        ) -%}
        {%- if flags.WHICH in ['build', 'test', 'retry'] -%}
            {#- dbt says of a test that fails how many rows it has, and no more. -#}
            {%- do bridge.tell_findings(rows, context['model'].original_file_path) -%}
        {%- endif -%}
    {%- elif flags.WHICH not in ['build', 'test', 'retry', 'run', 'show'] -%}
        {#- dbt compile and dbt docs generate only write the SQL down. -#}
        {%- set rows = [lineage_post.contract_row(
            kind, unique_id, column_name, '', 'not checked: this SQL was compiled by dbt ' ~ flags.WHICH
        )] -%}
    {%- else -%}
        {%- set rows = lineage_post.contract_from_tables(kind, unique_id, given) -%}
    {%- endif -%}
    {{ return(lineage_post.contract_rows(rows)) }}
{% endmacro %}

{#- The node a test is on; dbt 2 tests say so by their relation alone. -#}
{% macro contract_node(relation) %}
    {#- Not `model`: in a generic test that is the relation. -#}
    {%- set test = context['model'] -%}
    {%- if test.attached_node -%}{{ return(test.attached_node) }}{%- endif -%}
    {%- for node in graph.nodes.values() -%}
        {%- if node.relation_name and node.relation_name == relation | string -%}
            {{ return(node.unique_id) }}
        {%- endif -%}
    {%- endfor -%}
    {{ return((test.depends_on.nodes or [''])[0]) }}
{% endmacro %}

{% macro contract_row(kind, unique_id, column_name, path, because) %}
    {{ return({
        'contract': kind,
        'unique_id': unique_id,
        'column_name': column_name or '',
        'path': path,
        'because': because,
    }) }}
{% endmacro %}

{#- Rows as a query; none is a query without rows, with a FROM, since some warehouses want one. -#}
{% macro contract_rows(rows) %}
    {%- set columns = ['contract', 'unique_id', 'column_name', 'path', 'because'] -%}
    {%- set selects = [] -%}
    {%- for row in rows -%}
        {%- set values = [] -%}
        {%- for column in columns -%}
            {%- do values.append(
                'cast(' ~ lineage_post.text_literal(row[column]) ~ ' as ' ~ dbt.type_string() ~ ') as '
                ~ column
            ) -%}
        {%- endfor -%}
        {%- do selects.append('select\n    ' ~ values | join(',\n    ')) -%}
    {%- endfor -%}
    {%- if selects -%}{{ return(selects | join('\nunion all\n')) }}{%- endif -%}
    {%- for column in columns -%}
        {%- do selects.append('cast(null as ' ~ dbt.type_string() ~ ') as ' ~ column) -%}
    {%- endfor -%}
    {{ return(
        'select\n    ' ~ selects | join(',\n    ') ~ '\nfrom (select 1 as nothing) as nothing\nwhere 1 = 0'
    ) }}
{% endmacro %}
