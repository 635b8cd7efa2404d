{#-
    The failing rows of all contracts of the project, as a query. `lineage_fresh` is left out: what
    a run is about to build is not recorded yet when the view is made.
-#}
{% macro contract_violations() %}
    {%- if not execute -%}{{ return(lineage_post.contract_rows([])) }}{%- endif -%}
    {%- if flags.WHICH not in ['build', 'run', 'retry'] -%}
        {{ return(lineage_post.contract_rows([lineage_post.contract_row(
            'not checked', '', '', '', 'this SQL was compiled by dbt ' ~ flags.WHICH
        )])) }}
    {%- endif -%}
    {%- set bridge = lineage_post.bridge() -%}
    {%- set rows = [] -%}
    {%- for test in graph.nodes.values() if lineage_post.is_contract(test) -%}
        {%- set metadata = test.test_metadata -%}
        {%- set given = {} -%}
        {%- for name, value in metadata.kwargs.items() if name not in ['model', 'arguments'] -%}
            {%- do given.update({name: value}) -%}
        {%- endfor -%}
        {%- do given.update(metadata.kwargs.get('arguments') or {}) -%}
        {%- set node = test.attached_node or (test.depends_on.nodes or [''])[0] -%}
        {%- if bridge is not none -%}
            {%- do rows.extend(bridge.contract(
                metadata.name, node, given, var('lineage_post', {}), dbt.type_timestamp()
            )) -%}
        {%- else -%}
            {%- do rows.extend(lineage_post.contract_from_tables(metadata.name, node, given)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(lineage_post.contract_rows(rows)) }}
{% endmacro %}

{% macro is_contract(test) %}
    {{ return(
        test.resource_type == 'test'
        and test.test_metadata is defined
        and test.test_metadata is not none
        and test.test_metadata.namespace == 'lineage_post'
        and test.package_name != 'lineage_post'
        and test.test_metadata.name in [
            'derives_from', 'does_not_derive_from', 'masked_from', 'only_derives_from',
            'is_identity_of', 'is_aggregated', 'lineage_known'
        ]
    ) }}
{% endmacro %}
