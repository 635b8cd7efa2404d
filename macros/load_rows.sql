{#- The relations of the base tables by name, or none for a model that is disabled. -#}
{% macro base_relations() %}
    {%- set relations = {} -%}
    {%- for table in ['lineage_nodes', 'lineage_edges', 'lineage_columns', 'lineage_refreshes'] -%}
        {%- set node = graph.nodes.get('model.lineage_post.' ~ table) -%}
        {%- if node -%}
            {%- do relations.update({table: adapter.get_relation(node.database, node.schema, node.alias)}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(relations) }}
{% endmacro %}

{#- One line that says what to run, or none where every base table is there. -#}
{% macro missing_tables(relations) %}
    {%- set missing = [] -%}
    {%- for table in ['lineage_nodes', 'lineage_edges', 'lineage_columns', 'lineage_refreshes'] -%}
        {%- if not relations.get(table) -%}{%- do missing.append(table) -%}{%- endif -%}
    {%- endfor -%}
    {%- if missing -%}
        {{ return(
            'lineage_post: no table ' ~ missing | join(', ') ~ '; lineage not recorded.'
            ~ ' Run `dbt run --select package:lineage_post` once.'
        ) }}
    {%- endif -%}
    {{ return(none) }}
{% endmacro %}

{#- Runs the batches of a load in order; a fault is the bridge's to report. -#}
{% macro load_batches(bridge, load) %}
    {%- for batch in load.batches -%}
        {%- do bridge.execute(
            load,
            lineage_post.insert_statement(batch.relation, batch.columns, batch.source),
            batch.parameter
        ) -%}
    {%- endfor -%}
    {%- do bridge.finish(load) -%}
    {{ return(lineage_post.failing_query(load.error) if load.fails else '') }}
{% endmacro %}
