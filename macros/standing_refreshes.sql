{#-
    Every refresh that asserts lineage and stands: not failed, not sampled, of a node that has not
    left the project since, of claims that were not retired after they were recorded; `age` 1 is the
    one that counts now, for each node and producer.

    What a failed trace could not see (not_compiled, internal_error) gives way to whatever was known
    before it, and what was planned to what was built.

    `as_of` is the time the lineage is asked of, `as_recorded` the time it had been recorded by;
    both none for now.
-#}
{% macro standing_refreshes(as_of=none, as_recorded=none) %}
    {{ return(adapter.dispatch('standing_refreshes', 'lineage_post')(as_of, as_recorded)) }}
{% endmacro %}

{% macro default__standing_refreshes(as_of, as_recorded) %}
    {%- set as_of = lineage_post.moment(as_of, 'as_of') -%}
    {%- set as_recorded = lineage_post.moment(as_recorded, 'as_recorded') -%}
    with refreshes as (
        select
            *,
            row_number() over (
                partition by node order by refreshed_at, run_id, recorded_at, producer
            ) as position
        from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_refreshes')) }}
        where
            1 = 1
            {%- if as_of %}
            and refreshed_at <= {{ as_of }}
            {%- endif %}
            {%- if as_recorded %}
            and coalesce(recorded_at, refreshed_at) <= {{ as_recorded }}
            {%- endif %}
    ),

    withdrawn as (
        select
            *,
            max(case when status = 'removed' then position else 0 end) over (
                partition by node
            ) as removed_position,
            max(case when status = 'purged' then coalesce(recorded_at, refreshed_at) end) over (
                partition by node, producer
            ) as purged_at
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
            -- What was recorded again after it was retired stands, however long ago it happened.
            and (purged_at is null or coalesce(recorded_at, refreshed_at) > purged_at)
    )

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
{% endmacro %}
