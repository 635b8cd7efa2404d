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
    with current_refreshes as (
        {{ lineage_post.current_refreshes() }}
    ),

    named as (
        {{ lineage_post.named_rows(asked.rows) }}
    ),

    current_edges as (
        {{ lineage_post.current_edges() }}
    ),

    edges as (
        select distinct from_node, from_column, to_node, coalesce(to_column, '') as to_column
        from current_edges
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
        where from_node <> to_node
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
        inner join pairs on named.node = pairs.from_node
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
