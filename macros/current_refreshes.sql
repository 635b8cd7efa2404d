{#-
    Current: for each node and producer the last refresh that may be current; see
    standing_refreshes. Where a definition was planned after what was built, and is another, its
    version stands beside.

    A macro and not a view that others read: where dropping a view drops its readers with it, as on
    Postgres, dbt would take them all away each time it makes one anew.
-#}
{% macro current_refreshes(as_of=none, as_recorded=none) %}
    {{ return(adapter.dispatch('current_refreshes', 'lineage_post')(as_of, as_recorded)) }}
{% endmacro %}

{% macro default__current_refreshes(as_of, as_recorded) %}
    with standing as (
        {{ lineage_post.standing_refreshes(as_of, as_recorded) }}
    )

    select
        node,
        producer,
        run_id,
        refreshed_at,
        recorded_at,
        status,
        operation,
        definition_version,
        git_revision,
        build_mode,
        fingerprint,
        last_known_fingerprint,
        state,
        reason,
        inputs
    from standing
    where age = 1
{% endmacro %}

{#-
    The refreshes whose edges count: the current ones, and of an incremental model the last build of
    the whole table before it, of which rows stand there still; `is_whole` tells it, `has_whole` that
    there is one, and `columns_of` is the fingerprint that has the columns of now.
-#}
{% macro edge_refreshes(as_of=none, as_recorded=none) %}
    {{ return(adapter.dispatch('edge_refreshes', 'lineage_post')(as_of, as_recorded)) }}
{% endmacro %}

{% macro default__edge_refreshes(as_of, as_recorded) %}
    with standing as (
        {{ lineage_post.standing_refreshes(as_of, as_recorded) }}
    ),

    whole_builds as (
        select
            *,
            row_number() over (partition by node, producer order by age) as whole_age
        from standing
        where build_mode in ('first', 'full_refresh') and fingerprint is not null
    ),

    whole as (
        select
            whole_builds.node,
            whole_builds.producer,
            whole_builds.fingerprint,
            whole_builds.operation,
            last.refreshed_at,
            whole_builds.build_mode,
            last.fingerprint as columns_of
        from whole_builds
        inner join standing as last
            on whole_builds.node = last.node and whole_builds.producer = last.producer
        where
            whole_builds.whole_age = 1
            and last.age = 1
            and last.build_mode = 'incremental'
            and last.fingerprint <> whole_builds.fingerprint
    )

    select
        standing.node,
        standing.producer,
        standing.fingerprint,
        standing.operation,
        standing.refreshed_at,
        standing.build_mode,
        standing.fingerprint as columns_of,
        0 as is_whole,
        case when whole.node is null then 0 else 1 end as has_whole
    from standing
    left join whole on standing.node = whole.node and standing.producer = whole.producer
    where standing.age = 1
    union all
    select
        node,
        producer,
        fingerprint,
        operation,
        refreshed_at,
        build_mode,
        columns_of,
        1 as is_whole,
        1 as has_whole
    from whole
{% endmacro %}

{#- The last definition that was compiled and not run, of each node. -#}
{% macro planned_definitions() %}
    select
        node,
        definition_version,
        refreshed_at
    from (
        select
            node,
            definition_version,
            refreshed_at,
            row_number() over (partition by node order by refreshed_at desc, run_id desc) as age
        from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_refreshes')) }}
        where status = 'planned' and definition_version is not null
    ) as planned
    where age = 1
{% endmacro %}

{#-
    Whether two versions are different definitions. An incremental model compiles to other SQL the
    first time than later, so that where there is a build mode only the raw SQL and the settings tell.
-#}
{% macro is_other_definition(one, other, build_mode) %}
    {%- set part = "'.'" -%}
    {{ dbt.split_part(one, part, 1) }} <> {{ dbt.split_part(other, part, 1) }}
    or {{ dbt.split_part(one, part, 3) }} <> {{ dbt.split_part(other, part, 3) }}
    or (
        {{ build_mode }} is null
        and {{ dbt.split_part(one, part, 2) }} <> {{ dbt.split_part(other, part, 2) }}
    )
{% endmacro %}
