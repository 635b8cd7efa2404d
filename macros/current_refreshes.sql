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

    ranked as (
        select
            *,
            case
                when build_mode in ('first', 'full_refresh') and fingerprint is not null then 1
                else 0
            end as is_whole_build
        from standing
    ),

    -- By windows and not by joins: a reader that copies a subquery to each place copies it once.
    compared as (
        select
            *,
            row_number() over (
                partition by node, producer, is_whole_build order by age
            ) as whole_age,
            max(case when age = 1 then refreshed_at end) over (
                partition by node, producer
            ) as last_refreshed_at,
            max(case when age = 1 then build_mode end) over (
                partition by node, producer
            ) as last_build_mode,
            max(case when age = 1 then fingerprint end) over (
                partition by node, producer
            ) as last_fingerprint
        from ranked
    ),

    told as (
        select
            *,
            case
                when
                    is_whole_build = 1
                    and whole_age = 1
                    and age > 1
                    and last_build_mode = 'incremental'
                    and last_fingerprint <> fingerprint
                    then 1
                else 0
            end as is_whole
        from compared
    ),

    final as (
        select
            node,
            producer,
            fingerprint,
            operation,
            last_refreshed_at as refreshed_at,
            build_mode,
            last_fingerprint as columns_of,
            age,
            is_whole,
            max(is_whole) over (partition by node, producer) as has_whole
        from told
    )

    select
        node,
        producer,
        fingerprint,
        operation,
        refreshed_at,
        build_mode,
        columns_of,
        is_whole,
        has_whole
    from final
    where age = 1 or is_whole = 1
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
