{#-
    Current edges. Of an incremental model they are those of its last build and those of the build
    that made the whole table; `build_mode` is of those that one of the two alone has.

    Two loads that met may have written a fingerprint's rows twice; an edge is one
    edge. What several producers assert is one edge too, if it leads from the same column to the
    same column: with the details that this tool gives it, or else the first producer by name, and
    the names of all that vouch for it. Of a value they need not agree how it is computed.
-#}
{% macro current_edges(as_of=none, as_recorded=none) %}
    {{ return(adapter.dispatch('current_edges', 'lineage_post')(as_of, as_recorded)) }}
{% endmacro %}

{% macro default__current_edges(as_of, as_recorded) %}
    {%- set now = lineage_post.moment(as_of, 'as_of') or lineage_post.utc_now() -%}
    with asserted as (
        {{ lineage_post.asserted_edges(as_of, as_recorded, now) }}
    ),

    -- Of few tables there are edges of two builds: those are told apart by what the last one has.
    whole_keys as (
        select distinct producer, from_node, from_column, to_node, target, kind
        from asserted
        where is_whole = 1
    ),

    last_keys as (
        select distinct producer, from_node, from_column, to_node, target, kind
        from asserted
        where is_whole = 0 and has_whole = 1
    ),

    claims as (
        select
            asserted.*,
            case
                when asserted.has_whole = 1 and whole_keys.producer is null then asserted.build_mode
            end as only_mode
        from asserted
        left join whole_keys
            on
                asserted.producer = whole_keys.producer
                and asserted.from_node = whole_keys.from_node
                and asserted.from_column = whole_keys.from_column
                and asserted.to_node = whole_keys.to_node
                and asserted.target = whole_keys.target
                and asserted.kind = whole_keys.kind
        where asserted.is_whole = 0
        union all
        select
            asserted.*,
            asserted.build_mode as only_mode
        from asserted
        left join last_keys
            on
                asserted.producer = last_keys.producer
                and asserted.from_node = last_keys.from_node
                and asserted.from_column = last_keys.from_column
                and asserted.to_node = last_keys.to_node
                and asserted.target = last_keys.target
                and asserted.kind = last_keys.kind
        -- Of a column that is there no more no row is left.
        left join (
            select distinct fingerprint, column_name
            from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_columns')) }}
        ) as present
            on asserted.columns_of = present.fingerprint and asserted.to_column = present.column_name
        where
            asserted.is_whole = 1
            and last_keys.producer is null
            and (asserted.to_column is null or present.column_name is not null)
    ),

    vouched as (
        select
            from_node,
            from_column,
            to_node,
            target,
            kind,
            min(producer_rank) as best_rank,
            count(distinct producer) as producers,
            {{ lineage_post.joined('producer') }} as vouched_by,
            max(refreshed_at) as refreshed_at,
            min(is_stale) as is_stale
        from claims
        group by from_node, from_column, to_node, target, kind
    )

    select
        claims.from_node,
        claims.from_column,
        claims.from_field,
        claims.to_node,
        claims.to_column,
        claims.type,
        claims.subtype,
        claims.masking,
        claims.certainty,
        claims.expression,
        claims.ops,
        cast(vouched.producers as {{ dbt.type_int() }}) as producers,
        vouched.refreshed_at,
        vouched.vouched_by,
        claims.operation,
        vouched.is_stale = 1 as stale,
        claims.only_mode as build_mode
    from claims
    inner join vouched
        on
            claims.from_node = vouched.from_node
            and claims.from_column = vouched.from_column
            and claims.to_node = vouched.to_node
            and claims.target = vouched.target
            and claims.kind = vouched.kind
            and claims.producer_rank = vouched.best_rank
{% endmacro %}

{#- The edges of every refresh that counts, of each producer, once. -#}
{% macro asserted_edges(as_of, as_recorded, now) %}
    select distinct
        edges.from_node,
        edges.from_column,
        edges.from_field,
        edges.to_node,
        edges.to_column,
        edges.type,
        edges.subtype,
        edges.masking,
        edges.certainty,
        edges.expression,
        edges.ops,
        coalesce(edges.to_column, '') as target,
        case when edges.type = 'DIRECT' then edges.type else edges.subtype end as kind,
        counted.producer,
        {{ lineage_post.producer_rank('counted.producer') }} as producer_rank,
        counted.operation,
        counted.refreshed_at,
        counted.build_mode,
        counted.columns_of,
        counted.is_whole,
        counted.has_whole,
        {{ lineage_post.is_stale('counted.producer', 'counted.refreshed_at', now) }} as is_stale
    from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_edges')) }} as edges
    inner join (
        {{ lineage_post.edge_refreshes(as_of, as_recorded) }}
    ) as counted on edges.fingerprint = counted.fingerprint
{% endmacro %}

{#-
    The same without a self-join: Spark copies a subquery to each place that names it, and plans all
    copies anew. Elsewhere the windows would sort all edges to tell apart those of few tables.
-#}
{% macro spark__current_edges(as_of, as_recorded) %}
    {%- set now = lineage_post.moment(as_of, 'as_of') or lineage_post.utc_now() -%}
    {%- set edge = 'from_node, from_column, to_node, target, kind' -%}
    with asserted as (
        {{ lineage_post.asserted_edges(as_of, as_recorded, now) }}
    ),

    compared as (
        select
            *,
            max(is_whole) over (partition by producer, {{ edge }}) as any_whole,
            min(is_whole) over (partition by producer, {{ edge }}) as all_whole
        from asserted
    ),

    claims as (
        select
            compared.*,
            case
                when compared.has_whole = 1 and compared.any_whole = compared.all_whole
                    then compared.build_mode
            end as only_mode
        from compared
        -- Of a column that is there no more no row is left.
        left join (
            select distinct fingerprint, column_name
            from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_columns')) }}
        ) as present
            on compared.columns_of = present.fingerprint and compared.to_column = present.column_name
        where
            compared.is_whole = 0
            or (
                compared.all_whole = 1
                and (compared.to_column is null or present.column_name is not null)
            )
    ),

    vouched as (
        select
            *,
            min(producer_rank) over (partition by {{ edge }}) as best_rank,
            collect_set(producer) over (partition by {{ edge }}) as all_producers,
            max(refreshed_at) over (partition by {{ edge }}) as confirmed_at,
            min(is_stale) over (partition by {{ edge }}) as all_stale
        from claims
    )

    select
        from_node,
        from_column,
        from_field,
        to_node,
        to_column,
        type,
        subtype,
        masking,
        certainty,
        expression,
        ops,
        size(all_producers) as producers,
        confirmed_at as refreshed_at,
        array_join(array_sort(all_producers), ', ') as vouched_by,
        operation,
        all_stale = 1 as stale,
        only_mode as build_mode
    from vouched
    where producer_rank = best_rank
{% endmacro %}

{#- Orders producers: this tool's own first, of what was built, then the others by name. -#}
{% macro producer_rank(producer) %}
    {{- return(
        "case " ~ producer ~ " when 'execution' then '0' when 'manifest' then '1'"
        ~ " else " ~ dbt.concat(["'2'", producer]) ~ " end"
    ) -}}
{% endmacro %}
