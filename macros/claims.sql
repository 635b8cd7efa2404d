{#-
    Claims: each edge of each producer that has asserted it and was not retired, with when it was
    first and last seen. `is_current` tells whether the producer still asserts it.

    Refreshes are counted by fingerprint before they meet edges: a table that is built each day has
    many refreshes and few fingerprints.
-#}
{% macro claims(as_of=none, as_recorded=none) %}
    {{ return(adapter.dispatch('claims', 'lineage_post')(as_of, as_recorded)) }}
{% endmacro %}

{% macro default__claims(as_of, as_recorded) %}
    {%- set now = lineage_post.moment(as_of, 'as_of') or lineage_post.utc_now() -%}
    with standing as (
        {{ lineage_post.standing_refreshes(as_of, as_recorded) }}
    ),

    ordered as (
        select
            node,
            producer,
            run_id,
            fingerprint,
            refreshed_at,
            operation,
            definition_version,
            age,
            row_number() over (
                partition by node, producer, fingerprint order by age
            ) as age_of_fingerprint
        from standing
        where fingerprint is not null
    ),

    seen as (
        select
            node,
            producer,
            fingerprint,
            min(refreshed_at) as first_seen,
            max(refreshed_at) as last_seen,
            count(distinct run_id) as observations,
            min(age) as age,
            max(case when age_of_fingerprint = 1 then operation end) as operation,
            max(case when age_of_fingerprint = 1 then definition_version end) as definition_version
        from ordered
        group by node, producer, fingerprint
    ),

    edges as (
        select distinct
            fingerprint,
            from_node,
            from_column,
            from_field,
            to_node,
            to_column,
            type,
            subtype
        from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_edges')) }}
    ),

    asserted as (
        select
            edges.from_node,
            edges.from_column,
            edges.from_field,
            edges.to_node,
            edges.to_column,
            edges.type,
            edges.subtype,
            seen.producer,
            seen.first_seen,
            seen.last_seen,
            seen.observations,
            seen.age,
            seen.operation,
            seen.definition_version,
            row_number() over (
                partition by
                    edges.from_node,
                    edges.from_column,
                    edges.from_field,
                    edges.to_node,
                    edges.to_column,
                    edges.subtype,
                    seen.producer
                order by seen.age
            ) as position
        from edges
        inner join seen on edges.fingerprint = seen.fingerprint and edges.to_node = seen.node
    ),

    queries as (
        select
            node,
            definition_version,
            max(query) as query
        from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_nodes')) }}
        where query is not null
        group by node, definition_version
    ),

    counted as (
        select
            from_node,
            from_column,
            from_field,
            to_node,
            to_column,
            type,
            subtype,
            producer,
            min(first_seen) as first_seen,
            max(last_seen) as last_seen,
            sum(observations) as observations,
            min(age) as age,
            max(case when position = 1 then operation end) as operation,
            max(case when position = 1 then definition_version end) as definition_version
        from asserted
        group by from_node, from_column, from_field, to_node, to_column, type, subtype, producer
    )

    select
        counted.from_node,
        counted.from_column,
        counted.from_field,
        counted.to_node,
        counted.to_column,
        counted.type,
        counted.subtype,
        counted.producer,
        counted.first_seen,
        counted.last_seen,
        cast(counted.observations as {{ dbt.type_int() }}) as observations,
        counted.age = 1 as is_current,
        {{ lineage_post.is_stale('counted.producer', 'counted.last_seen', now) }} = 1 as stale,
        counted.operation,
        counted.definition_version,
        queries.query
    from counted
    left join queries
        on counted.to_node = queries.node and counted.definition_version = queries.definition_version
{% endmacro %}
