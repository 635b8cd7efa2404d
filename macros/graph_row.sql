{#-
    For warehouses that copy a subquery to each place that names it, as Spark does: a whole graph in
    one row, to be walked by functions on arrays, however many steps, and named once.

    CTEs that end in `vertices`: id, node, column_name, mark, `ahead` and `behind`, which are arrays
    of ids. The ids go from 1 without a gap: in an array that is in their order, a vertex stands at
    its id. `arcs` has from_node, from_column, to_node, to_column and mark, an integer for the
    vertex it starts from or null. With a null to_node it is that vertex alone.
-#}
{% macro vertices(arcs) %}
    ends as (
        select
            {{ arcs }}.from_node,
            {{ arcs }}.from_column,
            {{ arcs }}.to_node,
            {{ arcs }}.to_column,
            {{ arcs }}.mark,
            place.is_start,
            dense_rank() over (order by place.node, place.column_name) as id
        from {{ arcs }}
        lateral view inline(array(
            named_struct('is_start', true, 'node', from_node, 'column_name', from_column),
            named_struct('is_start', false, 'node', to_node, 'column_name', to_column)
        )) place as is_start, node, column_name
        where place.node is not null and place.column_name is not null
    ),

    numbered as (
        select
            from_node,
            from_column,
            to_node,
            to_column,
            max(mark) as mark,
            max(case when is_start then id end) as from_id,
            max(case when not is_start then id end) as to_id
        from ends
        group by from_node, from_column, to_node, to_column
    ),

    vertices as (
        select
            place.id,
            place.node,
            place.column_name,
            max(place.mark) as mark,
            collect_set(place.next) as ahead,
            collect_set(place.earlier) as behind
        from numbered
        lateral view inline(array(
            named_struct(
                'id', from_id, 'node', from_node, 'column_name', from_column, 'mark', mark,
                'next', to_id, 'earlier', cast(null as int)
            ),
            named_struct(
                'id', to_id, 'node', to_node, 'column_name', to_column, 'mark', cast(null as int),
                'next', cast(null as int), 'earlier', from_id
            )
        )) place as id, node, column_name, mark, next, earlier
        where place.id is not null
        group by place.id, place.node, place.column_name
    )
{% endmacro %}

{#- An expression in which the value has a name, so that it is computed once. -#}
{% macro named_value(name, value, body) %}
    transform(array({{ value }}), {{ name }} -> {{ body }})[0]
{% endmacro %}

{#-
    An array of a number for each vertex, from `start` on replaced by `next` until nothing changes:
    after one step for each vertex at the latest. `next` calls the numbers before it `name`.

    Of the list that is gone through only the length counts. Its items are one and the same: Spark
    copies what `transform` makes, and so many copies of all numbers have no place in its memory.
-#}
{% macro settled(name, start, next) %}
    {%- set body -%}
        aggregate(
            array_repeat(named_struct('values', first_{{ name }}, 'moves', true), size(graph)),
            named_struct('values', first_{{ name }}, 'moves', true),
            (state_{{ name }}, step_{{ name }}) -> if(
                state_{{ name }}.moves,
                {{ lineage_post.named_value(
                    name,
                    'state_' ~ name ~ '.values',
                    lineage_post.named_value(
                        'next_' ~ name,
                        next,
                        "named_struct('values', next_" ~ name ~ ", 'moves', next_" ~ name ~ ' <> ' ~ name ~ ')'
                    )
                ) }},
                state_{{ name }}
            )
        ).values
    {%- endset -%}
    {{ lineage_post.named_value('first_' ~ name, start, body) }}
{% endmacro %}
