{#-
    CTEs that end in `pairs`: every node with each that reads it, by an edge or as an input, itself
    among them. A null to_column is an empty one in `edges`, so that it can be compared.
-#}
{% macro read_pairs() %}
    current_refreshes as (
        {{ lineage_post.current_refreshes() }}
    ),

    current_edges as (
        {{ lineage_post.current_edges() }}
    ),

    edges as (
        select distinct from_node, from_column, to_node, coalesce(to_column, '') as to_column
        from current_edges
    ),

    inputs as (
        {{ lineage_post.unnest_inputs('current_refreshes') }}
    ),

    pairs as (
        select distinct from_node, to_node
        from (
            select from_node, to_node from edges
            union all
            select input_node as from_node, node as to_node from inputs
        ) as every_pair
    )
{% endmacro %}
