{#-
    Current: for each node and producer the last refresh that may be current. What a failed trace
    could not see (not_compiled, internal_error) gives way to whatever was known before it.

    A macro and not a view that others read: where dropping a view drops its readers with it, as on
    Postgres, dbt would take them all away each time it makes one anew.
-#}
{% macro current_refreshes() %}
    {{ return(adapter.dispatch('current_refreshes', 'lineage_post')()) }}
{% endmacro %}

{% macro default__current_refreshes() %}
    with refreshes as (
        select
            *,
            row_number() over (
                partition by node order by refreshed_at, run_id, recorded_at, producer
            ) as position
        from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_refreshes')) }}
    ),

    withdrawn as (
        select
            *,
            max(case when status = 'removed' then position else 0 end) over (
                partition by node
            ) as removed_position,
            max(case when status = 'purged' then position else 0 end) over (
                partition by node, producer
            ) as purged_position
        from refreshes
    ),

    claims as (
        select
            *,
            max(case when producer = 'execution' and status <> 'planned' then 1 else 0 end) over (
                partition by node
            ) as has_execution
        from withdrawn
        where
            status in ('success', 'derived', 'planned')
            and position > removed_position
            and position > purged_position
    ),

    ranked as (
        select
            *,
            row_number() over (
                partition by node, producer
                order by
                    case when reason in ('not_compiled', 'internal_error') then 1 else 0 end,
                    position desc
            ) as age
        from claims
        where status <> 'planned' or has_execution = 0
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
    from ranked
    where age = 1
{% endmacro %}
