{#-
    Columns that nothing depends on: no value and no row of what reads the table, no test, setting or
    consumer. Only what is sure: nothing is claimed of a table with a reader that is not recorded, or
    of which it is not known what it reads, and nothing of one that no model reads or that is public.

    Who names a column in YAML is known of the project as it stood when the view was made. A column
    that feeds unused columns alone is unused too; that is followed over `levels` tables.
-#}
{% macro unused_columns(levels=6) %}
    {{ return(adapter.dispatch('unused_columns', 'lineage_post')(levels)) }}
{% endmacro %}

{% macro default__unused_columns(levels) %}
    {%- set asked = lineage_post.named_in_yaml() -%}
    {%- if asked.problem -%}{{ return(lineage_post.nothing_unused(asked.problem)) }}{%- endif -%}
    with {{ lineage_post.read_pairs() }},

    named as (
        {{ lineage_post.named_rows(asked.rows) }}
    ),

    columns as (
        select distinct
            current_refreshes.node,
            columns.column_name,
            columns.ordinal,
            columns.state,
            coalesce(columns.reason, '') as reason
        from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_columns')) }} as columns
        inner join current_refreshes on columns.fingerprint = current_refreshes.fingerprint
    ),

    -- What it is not known of what it reads.
    opaque as (
        select node from current_refreshes where state = 'unknown' or state is null
        union all
        select node from columns where state <> 'known' and reason <> 'not_in_sql'
    ),

    readers as (
        select
            named.node,
            named.reader_count,
            count(distinct pairs.to_node) as recorded,
            count(
                distinct case
                    when {{ dbt.position(dbt.concat(["'|'", 'pairs.to_node', "'|'"]), 'named.readers') }} > 0
                        then pairs.to_node
                end
            ) as recorded_of_project,
            max(case when opaque.node is not null then 1 else 0 end) as has_opaque
        from named
        inner join pairs on named.node = pairs.from_node and pairs.from_node <> pairs.to_node
        inner join current_refreshes on pairs.to_node = current_refreshes.node
        left join opaque on pairs.to_node = opaque.node
        group by named.node, named.reader_count
    ),

    candidates as (
        select distinct
            columns.node,
            columns.column_name,
            readers.recorded as readers
        from columns
        inner join named on columns.node = named.node
        inner join readers on columns.node = readers.node
        where
            columns.column_name is not null
            and columns.ordinal is not null
            and readers.has_opaque = 0
            and readers.recorded_of_project = readers.reader_count
            and columns.node in (select from_node from edges where to_node not like 'exposure.%')
            and {{ dbt.position(dbt.concat(["'|'", 'lower(columns.column_name)', "'|'"]), 'named.names') }} = 0
            and columns.node not in (
                select opaque.node
                from opaque
                inner join columns as unlisted on opaque.node = unlisted.node
                where unlisted.ordinal is null
            )
    ),

    uses as (
        select from_node, from_column, to_node, to_column
        from edges
        where from_node <> to_node or from_column <> to_column
    ),
    {% for level in range(levels) %}
    used_{{ level }} as (
        select distinct uses.from_node, uses.from_column
        from uses
        {%- if level > 0 %}
        left join unused_{{ level - 1 }} as before
            on uses.to_node = before.node and uses.to_column = before.column_name
        where before.node is null
        {%- endif %}
    ),

    unused_{{ level }} as (
        select candidates.node, candidates.column_name, candidates.readers
        from candidates
        left join used_{{ level }} as used
            on candidates.node = used.from_node and candidates.column_name = used.from_column
        where used.from_node is null
    ),
    {% endfor %}
    feeding as (
        select distinct from_node, from_column from uses
    )

    select
        unused.node,
        unused.column_name,
        cast(unused.readers as {{ dbt.type_int() }}) as readers,
        cast(
            case
                when feeding.from_node is null
                    then 'all of its readers are known: none has it in a value, a row or a setting'
                else 'all of its readers are known: it feeds columns alone that are unused themselves'
            end as {{ dbt.type_string() }}
        ) as because
    from unused_{{ levels - 1 }} as unused
    left join feeding
        on unused.node = feeding.from_node and unused.column_name = feeding.from_column
{% endmacro %}

{#-
    The same with each subquery named once, since Spark copies what is named: what is used is told of
    all columns in one row. Of a column that is no candidate it is not asked what it feeds.
-#}
{% macro spark__unused_columns(levels) %}
    {%- set asked = lineage_post.named_in_yaml() -%}
    {%- if asked.problem -%}{{ return(lineage_post.nothing_unused(asked.problem)) }}{%- endif -%}
    {%- set used -%}
        transform(graph, vertex -> if(
            vertex.mark is null
            or size(filter(vertex.ahead, other -> element_at(used, other))) > 0,
            true,
            false
        ))
    {%- endset -%}
    with current_refreshes as (
        {{ lineage_post.current_refreshes() }}
    ),

    named as (
        {{ lineage_post.named_rows(asked.rows) }}
    ),

    reads as (
        select
            from_node,
            from_column,
            to_node,
            coalesce(to_column, '') as to_column,
            1 as is_edge
        from (
            {{ lineage_post.current_edges() }}
        ) as current_edges
        union all
        select
            input_node,
            cast(null as string),
            node,
            '',
            0
        from (
            {{ lineage_post.unnest_inputs('current_refreshes') }}
        ) as inputs
    ),

    -- A column that is not known, and rows of which it is not known what they are.
    described as (
        select
            current_refreshes.node,
            max(
                case
                    when current_refreshes.state = 'unknown' or current_refreshes.state is null then 1
                    when columns.state <> 'known' and coalesce(columns.reason, '') <> 'not_in_sql' then 1
                    else 0
                end
            ) as is_opaque,
            max(
                case when columns.fingerprint is not null and columns.ordinal is null then 1 else 0 end
            ) as has_unlisted,
            collect_set(case when columns.ordinal is not null then columns.column_name end) as names
        from current_refreshes
        left join {{ lineage_post.all_rows(ref('lineage_post', 'lineage_columns')) }} as columns
            on current_refreshes.fingerprint = columns.fingerprint
        group by current_refreshes.node
    ),

    read_by as (
        select
            named.node,
            named.names,
            named.reader_count,
            reads.from_column,
            reads.to_node,
            reads.to_column,
            reads.is_edge,
            described.is_opaque,
            case when described.node is not null and named.node <> reads.to_node then 1 else 0 end as is_reader,
            case
                when {{ dbt.position(dbt.concat(["'|'", 'reads.to_node', "'|'"]), 'named.readers') }} > 0
                    then 1
                else 0
            end as is_of_project
        from named
        inner join reads on named.node = reads.from_node
        left join described on reads.to_node = described.node
    ),

    readers as (
        select
            node,
            names,
            count(distinct case when is_reader = 1 then to_node end) as readers,
            collect_set(
                case
                    when is_edge = 1 and from_column is not null
                        and (node <> to_node or from_column <> to_column)
                        then named_struct(
                            'from_column', from_column, 'to_node', to_node, 'to_column', to_column
                        )
                end
            ) as uses
        from read_by
        group by node, names, reader_count
        having
            count(distinct case when is_reader = 1 then to_node end) > 0
            and count(distinct case when is_reader = 1 and is_of_project = 1 then to_node end) = reader_count
            and max(case when is_reader = 1 then is_opaque else 0 end) = 0
            and max(case when is_edge = 1 and to_node not like 'exposure.%' then 1 else 0 end) = 1
    ),

    candidates as (
        select
            readers.node,
            readers.readers,
            readers.uses,
            filter(described.names, name ->
                {{ dbt.position(dbt.concat(["'|'", 'lower(name)', "'|'"]), 'readers.names') }} = 0
            ) as names
        from readers
        inner join described on readers.node = described.node
        where described.is_opaque = 0 or described.has_unlisted = 0
    ),

    arcs as (
        select
            candidates.node as from_node,
            arc.from_column,
            arc.to_node,
            arc.to_column,
            arc.mark
        from candidates
        lateral view inline(concat(
            transform(uses, a_use -> named_struct(
                'from_column', a_use.from_column,
                'to_node', a_use.to_node,
                'to_column', a_use.to_column,
                'mark', cast(null as int)
            )),
            transform(names, name -> named_struct(
                'from_column', name,
                'to_node', cast(null as string),
                'to_column', cast(null as string),
                'mark', cast(readers as int)
            ))
        )) arc as from_column, to_node, to_column, mark
    ),

    {{ lineage_post.vertices('arcs') }},

    graph as (
        select array_sort(collect_list(
            named_struct('id', id, 'node', node, 'column_name', column_name, 'mark', mark, 'ahead', ahead)
        )) as graph
        from vertices
    ),

    -- At first all are held to be used, and at each level fewer.
    told as (
        select
            graph,
            {{ lineage_post.named_value('everything', 'transform(graph, vertex -> true)',
                'aggregate(array(' ~ (['everything'] * levels) | join(', ') ~ '), everything, (used, level) -> '
                ~ used ~ ')'
            ) }} as used
        from graph
    )

    select
        vertex.node,
        vertex.column_name,
        vertex.mark as readers,
        cast(
            case
                when size(vertex.ahead) > 0
                    then 'all of its readers are known: it feeds columns alone that are unused themselves'
                else 'all of its readers are known: none has it in a value, a row or a setting'
            end as {{ dbt.type_string() }}
        ) as because
    from told
    lateral view explode(filter(graph, vertex -> not element_at(used, vertex.id))) found as vertex
{% endmacro %}

{#- Who names which column, as the Python side knows it, or the problem why nobody can say. -#}
{% macro named_in_yaml() %}
    {%- if not execute -%}{{ return({'problem': none, 'rows': []}) }}{%- endif -%}
    {%- if flags.WHICH not in ['build', 'run', 'retry'] -%}
        {{ return({'problem': 'not checked: this SQL was compiled by dbt ' ~ flags.WHICH}) }}
    {%- endif -%}
    {%- set bridge = lineage_post.bridge() -%}
    {%- if bridge is none -%}
        {{ return({'problem': 'not checked: the Python side was not in the dbt process that made this view'}) }}
    {%- endif -%}
    {{ return(bridge.named_columns(var('lineage_post', {}))) }}
{% endmacro %}

{#- One row that says why nothing is said, or none. -#}
{% macro nothing_unused(problem) %}
    select
        cast('' as {{ dbt.type_string() }}) as node,
        cast('' as {{ dbt.type_string() }}) as column_name,
        cast(0 as {{ dbt.type_int() }}) as readers,
        cast({{ lineage_post.text_literal(problem) }} as {{ dbt.type_string() }}) as because
    from (select 1 as nothing) as nothing
    where {{ '1 = 1' if problem else '1 = 0' }}
{% endmacro %}

{% macro named_rows(rows) %}
    {{ return(adapter.dispatch('named_rows', 'lineage_post')(rows)) }}
{% endmacro %}

{#- Spark plans a list of values as one relation, and a union as many. -#}
{% macro spark__named_rows(rows) %}
    {%- if not rows -%}{{ return(lineage_post.default__named_rows(rows)) }}{%- endif -%}
    select node, names, readers, reader_count
    from values
    {%- for row in rows %}
        (
            {{ lineage_post.text_literal(row.node) }},
            {{ lineage_post.text_literal(row.names) }},
            {{ lineage_post.text_literal(row.readers) }},
            {{ row['count'] }}
        )
        {{- ',' if not loop.last }}
    {%- endfor %}
        as every_row (node, names, readers, reader_count)
{% endmacro %}

{% macro default__named_rows(rows) %}
    {%- for row in rows %}
    select
        {{ lineage_post.text_literal(row.node) }} as node,
        {{ lineage_post.text_literal(row.names) }} as names,
        {{ lineage_post.text_literal(row.readers) }} as readers,
        {{ row['count'] }} as reader_count
        {{ 'union all' if not loop.last }}
    {%- else %}
    select
        cast(null as {{ dbt.type_string() }}) as node,
        cast(null as {{ dbt.type_string() }}) as names,
        cast(null as {{ dbt.type_string() }}) as readers,
        0 as reader_count
    from (select 1 as nothing) as nothing
    where 1 = 0
    {%- endfor %}
{% endmacro %}
