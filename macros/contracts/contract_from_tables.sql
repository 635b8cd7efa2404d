{% macro contract_from_tables(kind, unique_id, arguments) %}
    {{ return([lineage_post.contract_row(kind, unique_id, '', '', 'no bridge')]) }}
{% endmacro %}
