{#-
    Columns that depend on themselves, by whatever kind of edge: a row for each column of a cycle,
    with a null column for the rows of a node. `cycle` is the same for all columns of one cycle.

    First the tables that are on a cycle, of which there are few; then the columns of these alone.
    Rows that only decide each other are left out where columns of the same nodes form a cycle.
-#}
{% macro cycles() %}
    {{ return(adapter.dispatch('cycles', 'lineage_post')()) }}
{% endmacro %}

{#- Without recursion, which not every warehouse has: cycles over at most so many tables. -#}
{% macro default__cycles() %}
    {{ return(lineage_post.cycles_by(steps=8)) }}
{% endmacro %}

{% macro duckdb__cycles() %}
    {{ return(lineage_post.cycles_by(steps=none)) }}
{% endmacro %}

{% macro postgres__cycles() %}
    {{ return(lineage_post.cycles_by(steps=none)) }}
{% endmacro %}

{#- In Redshift no recursion may be distinct. -#}
{% macro redshift__cycles() %}
    {{ return(lineage_post.default__cycles()) }}
{% endmacro %}

{#-
    The same of all columns at once, over any number of tables, and each subquery named once, since
    Spark copies what is named. A column that is on a cycle with another is so by arcs between tables
    that are on a cycle; there is no need to find these first.
-#}
{% macro spark__cycles() %}
    with current_refreshes as (
        {{ lineage_post.current_refreshes() }}
    ),

    current_edges as (
        {{ lineage_post.current_edges() }}
    ),

    inputs as (
        {{ lineage_post.unnest_inputs('current_refreshes') }}
    ),

    -- The rows of a node decide the values of its columns, and the rows of its readers.
    arcs as (
        select
            arc.from_node,
            arc.from_column,
            arc.to_node,
            arc.to_column,
            cast(null as int) as mark
        from current_edges
        lateral view inline(array(
            named_struct(
                'from_node', current_edges.from_node,
                'from_column', current_edges.from_column,
                'to_node', current_edges.to_node,
                'to_column', coalesce(current_edges.to_column, '')
            ),
            named_struct(
                'from_node', current_edges.from_node,
                'from_column', '',
                'to_node', current_edges.from_node,
                'to_column', current_edges.from_column
            ),
            named_struct(
                'from_node', current_edges.from_node,
                'from_column', '',
                'to_node', current_edges.to_node,
                'to_column', ''
            )
        )) arc as from_node, from_column, to_node, to_column
        where arc.from_column is not null and arc.to_column is not null
        union all
        select input_node, '', node, '', cast(null as int) from inputs
    ),

    {{ lineage_post.vertices('arcs') }},

    graph as (
        select array_sort(collect_list(
            named_struct(
                'id', id, 'node', node, 'column_name', column_name, 'ahead', ahead, 'behind', behind
            )
        )) as graph
        from vertices
    ),

    grouped as (
        select
            graph,
            {{ lineage_post.cycle_numbers() }} as numbers
        from graph
    ),

    parts as (
        select
            part.node,
            part.column_name,
            part.is_loop,
            count(*) over (partition by part.number) as members,
            min({{ dbt.concat(['part.node', "'.'", 'part.column_name']) }}) over (
                partition by part.number
            ) as cycle
        from grouped
        lateral view inline(transform(graph, vertex -> named_struct(
            'node', vertex.node,
            'column_name', vertex.column_name,
            'number', element_at(numbers, vertex.id),
            'is_loop', array_contains(vertex.ahead, vertex.id)
        ))) part as node, column_name, number, is_loop
        where part.number > 0
    ),

    stored as (
        select
            refreshed.node,
            max(
                case when {{ lineage_post.is_stored('nodes') }} then 1 else 0 end
            ) as is_stored
        from (
            {{ lineage_post.current_refreshes() }}
        ) as refreshed
        inner join {{ lineage_post.all_rows(ref('lineage_post', 'lineage_nodes')) }} as nodes
            on
                refreshed.node = nodes.node
                and refreshed.definition_version = nodes.definition_version
        group by refreshed.node
    ),

    described as (
        select
            parts.cycle,
            parts.node,
            parts.column_name,
            array_join(array_sort(collect_set(parts.node) over (partition by parts.cycle)), ', ') as nodes,
            max(case when parts.column_name <> '' then 1 else 0 end) over (
                partition by parts.cycle
            ) as has_columns,
            max(coalesce(stored.is_stored, 0)) over (partition by parts.cycle) as is_stored
        from parts
        left join stored on parts.node = stored.node
        where parts.members > 1 or parts.is_loop
    ),

    compared as (
        select
            *,
            max(has_columns) over (partition by nodes) as any_columns
        from described
    )

    select distinct
        cycle,
        case when is_stored = 1 then 'feedback' else 'error' end as kind,
        node,
        nullif(column_name, '') as column_name
    from compared
    where has_columns = 1 or any_columns = 0
{% endmacro %}

{#- Whether the rows of a node outlive a run, so that it may read what it wrote before. -#}
{% macro is_stored(nodes) -%}
    {{ nodes }}.resource_type = 'seed'
    or {{ nodes }}.materialization in (
        'table', 'incremental', 'snapshot', 'seed', 'materialized_view', 'dynamic_table'
    )
{%- endmacro %}

{% macro cycles_by(steps) %}
    with {{ 'recursive' if steps is none }} {{ lineage_post.read_pairs() }},

    -- What nothing leads to, or what leads nowhere, is on no cycle.
    inner_pairs as (
        select from_node, to_node
        from pairs
        where
            from_node <> to_node
            and from_node in (select to_node from pairs where from_node <> to_node)
            and to_node in (select from_node from pairs where from_node <> to_node)
    ),

    moments as (
        select node, max(refreshed_at) as moment
        from current_refreshes
        group by node
    ),

    -- The time of refresh cannot grow all around a cycle: at the head of some pair of it, it does
    -- not. In a project without cycles such heads are few, and what follows is next to nothing.
    heads as (
        select distinct inner_pairs.to_node as head
        from inner_pairs
        left join moments as before on inner_pairs.from_node = before.node
        left join moments as after on inner_pairs.to_node = after.node
        where before.moment is null or after.moment is null or before.moment >= after.moment
    ),

    first_ahead as (
        select inner_pairs.from_node, inner_pairs.to_node
        from inner_pairs
        inner join heads on inner_pairs.from_node = heads.head
    ),

    {{ lineage_post.closure(
        'ahead', 'inner_pairs', ['from_node'], ['to_node'], steps, first='first_ahead'
    ) }},

    back_pairs as (
        select to_node as from_node, from_node as to_node from inner_pairs
    ),

    first_behind as (
        select distinct back_pairs.from_node, back_pairs.to_node
        from back_pairs
        inner join ahead on back_pairs.from_node = ahead.from_node
        where ahead.from_node = ahead.to_node
    ),

    {{ lineage_post.closure(
        'behind', 'back_pairs', ['from_node'], ['to_node'], steps, first='first_behind'
    ) }},

    looped as (
        select distinct ahead.from_node as head, ahead.to_node as node
        from ahead
        inner join behind
            on ahead.from_node = behind.from_node and ahead.to_node = behind.to_node
    ),

    -- Of each node on a cycle all the nodes it shares one with, itself among them.
    shared as (
        select distinct node, other
        from (
            select one.node, another.node as other
            from looped as one
            inner join looped as another on one.head = another.head
            union all
            select from_node as node, to_node as other from pairs where from_node = to_node
        ) as every_pair
    ),

    arcs as (
        select edges.from_node, edges.from_column, edges.to_node, edges.to_column
        from edges
        inner join shared on edges.from_node = shared.node and edges.to_node = shared.other
        union all
        -- The rows of a node decide the values of its columns, and the rows of its readers.
        select edges.from_node, '', edges.from_node, edges.from_column
        from edges
        inner join shared on edges.from_node = shared.node and edges.to_node = shared.other
        union all
        select pairs.from_node, '', pairs.to_node, ''
        from pairs
        inner join shared on pairs.from_node = shared.node and pairs.to_node = shared.other
    ),

    {{ lineage_post.closure(
        'column_reach', 'arcs', ['from_node', 'from_column'], ['to_node', 'to_column'], steps
    ) }},

    members as (
        select
            one.from_node as node,
            one.from_column as column_name,
            min({{ dbt.concat(['one.to_node', "'.'", 'one.to_column']) }}) as cycle
        from column_reach as one
        inner join column_reach as back
            on
                one.from_node = back.to_node
                and one.from_column = back.to_column
                and one.to_node = back.from_node
                and one.to_column = back.from_column
        group by one.from_node, one.from_column
    ),

    described as (
        select
            members.cycle,
            {{ lineage_post.joined('members.node') }} as nodes,
            max(case when members.column_name <> '' then 1 else 0 end) as has_columns,
            max(case when {{ lineage_post.is_stored('nodes') }} then 1 else 0 end) as is_stored
        from members
        left join current_refreshes on members.node = current_refreshes.node
        left join {{ lineage_post.all_rows(ref('lineage_post', 'lineage_nodes')) }} as nodes
            on
                current_refreshes.node = nodes.node
                and current_refreshes.definition_version = nodes.definition_version
        group by members.cycle
    )

    select distinct
        members.cycle,
        case when described.is_stored = 1 then 'feedback' else 'error' end as kind,
        members.node,
        nullif(members.column_name, '') as column_name
    from members
    inner join described on members.cycle = described.cycle
    where
        described.has_columns = 1
        or described.nodes not in (select nodes from described where has_columns = 1)
{% endmacro %}

{#-
    CTEs that end in one of the name: all pairs (start, end) of which one leads to the other over
    pairs of the relation, beginning with those of `first`, where it is given. With `steps` over at
    most so many; with none by recursion.
-#}
{% macro closure(name, relation, start, end, steps, first=none) %}
    {%- set all_ends = start + end -%}
    {%- set next_pair -%}
        select distinct
            {% for column in start %}before.{{ column }}, {% endfor %}
            {% for column in end %}after.{{ column }}{{ ', ' if not loop.last }}{% endfor %}
    {%- endset -%}
    {%- set meet -%}
        {% for column in end %}before.{{ column }} = after.{{ start[loop.index0] }}{{ ' and ' if not loop.last }}{% endfor %}
    {%- endset -%}
    {%- if steps is none %}
    {{ name }} as (
        select {{ all_ends | join(', ') }} from {{ first or relation }}
        union
        {{ next_pair }}
        from {{ name }} as before
        inner join {{ relation }} as after on {{ meet }}
    )
    {%- else %}
    {{ name }}_1 as (
        select distinct {{ all_ends | join(', ') }} from {{ first or relation }}
    ),
    {%- for number in range(2, steps + 1) %}

    {{ name }}_{{ number }} as (
        {{ next_pair }}
        from {{ name }}_{{ number - 1 }} as before
        inner join {{ relation }} as after on {{ meet }}
    ),
    {%- endfor %}

    {{ name }} as (
        {%- for number in range(1, steps + 1) %}
        select {{ all_ends | join(', ') }} from {{ name }}_{{ number }}
        {{- ' union all' if not loop.last }}
        {%- endfor %}
    )
    {%- endif %}
{% endmacro %}
