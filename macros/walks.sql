{#-
    What depends on a column, and what a column depends on: queries with node, column_name and the
    least depth. A null column is all rows of the node. They start from one column and go `depth`
    steps: all pairs of a whole project would be far too many.

        select * from ({{ lineage_post.downstream('model.shop.stg_orders', 'amount') }}) as found

    `indirect` also follows what decides rows, branches and windows.
-#}
{% macro downstream(node, column, depth=5, indirect=false, as_of=none, as_recorded=none) %}
    {{ return(lineage_post.walk(
        {'node': 'from_node', 'column': 'from_column', 'next': 'to_node', 'next_column': 'to_column'},
        node, column, depth, indirect, as_of, as_recorded
    )) }}
{% endmacro %}

{% macro upstream(node, column, depth=5, indirect=false, as_of=none, as_recorded=none) %}
    {{ return(lineage_post.walk(
        {'node': 'to_node', 'column': 'to_column', 'next': 'from_node', 'next_column': 'from_column'},
        node, column, depth, indirect, as_of, as_recorded
    )) }}
{% endmacro %}

{% macro walk(ends, node, column, depth, indirect, as_of, as_recorded) %}
    {%- if depth is not integer or depth < 1 or depth > 30 -%}
        {%- do exceptions.raise_compiler_error(
            'lineage_post: the depth of a walk is ' ~ depth ~ '; it must be a whole number from 1 to 30.'
        ) -%}
    {%- endif -%}
    {{ return(adapter.dispatch('walk', 'lineage_post')(
        ends, node, column, depth, indirect, as_of, as_recorded
    )) }}
{% endmacro %}

{% macro walked_edges(indirect, as_of, as_recorded) %}
    select distinct from_node, from_column, to_node, to_column
    from (
        {{ lineage_post.current_edges(as_of, as_recorded) }}
    ) as current_edges
    where {{ '1 = 1' if indirect else "type = 'DIRECT'" }}
{% endmacro %}

{% macro first_step(ends, node, column) %}
    select distinct
        {{ ends.next }} as node,
        {{ ends.next_column }} as column_name,
        1 as depth
    from edges
    where
        {{ ends.node }} = {{ lineage_post.text_literal(node) }}
        and (
            lower({{ ends.column }}) = lower({{ lineage_post.text_literal(column) }})
            or {{ ends.column }} is null
        )
{% endmacro %}

{% macro next_step(ends, previous) %}
    select distinct
        edges.{{ ends.next }} as node,
        edges.{{ ends.next_column }} as column_name,
        {{ previous }}.depth + 1 as depth
    from edges
    inner join {{ previous }}
        on
            edges.{{ ends.node }} = {{ previous }}.node
            and (
                edges.{{ ends.column }} = {{ previous }}.column_name
                or edges.{{ ends.column }} is null
                or {{ previous }}.column_name is null
            )
{% endmacro %}

{#- Step by step, without recursion, which not every warehouse has. -#}
{% macro default__walk(ends, node, column, depth, indirect, as_of, as_recorded) %}
    with edges as (
        {{ lineage_post.walked_edges(indirect, as_of, as_recorded) }}
    ),

    step_1 as (
        {{ lineage_post.first_step(ends, node, column) }}
    ),
    {%- for number in range(2, depth + 1) %}

    step_{{ number }} as (
        {{ lineage_post.next_step(ends, 'step_' ~ (number - 1)) }}
    ),
    {%- endfor %}

    steps as (
        {%- for number in range(1, depth + 1) %}
        select node, column_name, depth from step_{{ number }}
        {{- ' union all' if not loop.last }}
        {%- endfor %}
    )

    select
        node,
        column_name,
        min(depth) as depth
    from steps
    group by node, column_name
{% endmacro %}

{#-
    Each step names the one before it and the edges once, since Spark copies what is named: it keeps
    what was reached and adds what is one step further.
-#}
{% macro spark__walk(ends, node, column, depth, indirect, as_of, as_recorded) %}
    with edges as (
        {{ lineage_post.walked_edges(indirect, as_of, as_recorded) }}
    ),

    reached_1 as (
        {{ lineage_post.first_step(ends, node, column) }}
    ),
    {%- for number in range(2, depth + 1) %}

    reached_{{ number }} as (
        select distinct
            found.node,
            found.column_name,
            found.depth
        from reached_{{ number - 1 }} as earlier
        left join edges
            on
                earlier.depth = {{ number - 1 }}
                and edges.{{ ends.node }} = earlier.node
                and (
                    edges.{{ ends.column }} = earlier.column_name
                    or edges.{{ ends.column }} is null
                    or earlier.column_name is null
                )
        lateral view inline(array(
            named_struct(
                'node', earlier.node, 'column_name', earlier.column_name, 'depth', earlier.depth
            ),
            named_struct(
                'node', edges.{{ ends.next }},
                'column_name', edges.{{ ends.next_column }},
                'depth', {{ number }}
            )
        )) found as node, column_name, depth
        where found.node is not null
    ),
    {%- endfor %}

    nearest as (
        select
            node,
            column_name,
            min(depth) as depth
        from reached_{{ depth }}
        group by node, column_name
    )

    select node, column_name, depth
    from nearest
{% endmacro %}

{% macro recursive_walk(ends, node, column, depth, indirect, as_of, as_recorded) %}
    with recursive edges as (
        {{ lineage_post.walked_edges(indirect, as_of, as_recorded) }}
    ),

    steps as (
        {{ lineage_post.first_step(ends, node, column) }}
        union
        {{ lineage_post.next_step(ends, 'steps') }}
        where steps.depth < {{ depth }}
    )

    select
        node,
        column_name,
        min(depth) as depth
    from steps
    group by node, column_name
{% endmacro %}

{% macro duckdb__walk(ends, node, column, depth, indirect, as_of, as_recorded) %}
    {{ return(lineage_post.recursive_walk(ends, node, column, depth, indirect, as_of, as_recorded)) }}
{% endmacro %}

{% macro postgres__walk(ends, node, column, depth, indirect, as_of, as_recorded) %}
    {{ return(lineage_post.recursive_walk(ends, node, column, depth, indirect, as_of, as_recorded)) }}
{% endmacro %}

{#- In Redshift no recursion may be distinct. -#}
{% macro redshift__walk(ends, node, column, depth, indirect, as_of, as_recorded) %}
    {{ return(lineage_post.default__walk(ends, node, column, depth, indirect, as_of, as_recorded)) }}
{% endmacro %}
