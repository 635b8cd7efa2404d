{#-
    When the derivation of a column changed, from what to what, in which run: one row per change. A
    row without a column is about what decides the node's rows.

    A node that says `meta: lineage: renamed_from` goes on with the history of the old one, up to
    its own first build. One that left the project and came back as something else has a `break`.
-#}
{% macro column_changes(as_recorded=none) %}
    {{ return(adapter.dispatch('column_changes', 'lineage_post')(as_recorded)) }}
{% endmacro %}

{#- More renames of one node than these, one after another, are not followed. -#}
{% macro renames_followed() %}{{ return(4) }}{% endmacro %}

{% macro default__column_changes(as_recorded) %}
    {%- set as_recorded = lineage_post.moment(as_recorded, 'as_recorded') -%}
    with recorded as (
        select
            *,
            node as identity
        from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_refreshes')) }}
        where
            status in ('success', 'derived', 'planned', 'removed')
            {%- if as_recorded %}
            and coalesce(recorded_at, refreshed_at) <= {{ as_recorded }}
            {%- endif %}
    ),

    first_builds as (
        select
            node,
            min(refreshed_at) as first_at
        from recorded
        where status <> 'removed'
        group by node
    ),

    renames as (
        select distinct
            nodes.renamed_from as old_node,
            nodes.node as new_node,
            first_builds.first_at
        from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_nodes')) }} as nodes
        inner join first_builds on nodes.node = first_builds.node
        where nodes.renamed_from is not null and nodes.renamed_from <> nodes.node
    ),
    {%- set followed = namespace(name='recorded') %}
    {%- for number in range(1, lineage_post.renames_followed() + 1) %}

    renamed_{{ number }} as (
        select
            {{ followed.name }}.node,
            {{ followed.name }}.run_id,
            {{ followed.name }}.producer,
            {{ followed.name }}.refreshed_at,
            {{ followed.name }}.recorded_at,
            {{ followed.name }}.status,
            {{ followed.name }}.definition_version,
            {{ followed.name }}.git_revision,
            {{ followed.name }}.build_mode,
            {{ followed.name }}.fingerprint,
            {{ followed.name }}.reason,
            coalesce(renames.new_node, {{ followed.name }}.identity) as identity
        from {{ followed.name }}
        left join renames
            on
                {{ followed.name }}.identity = renames.old_node
                and {{ followed.name }}.refreshed_at <= renames.first_at
    ),
    {%- set followed.name = 'renamed_' ~ number %}
    {%- endfor %}

    ordered as (
        select
            *,
            sum(case when status = 'removed' and node = identity then 1 else 0 end) over (
                partition by identity
                order by refreshed_at, run_id, recorded_at, producer
                rows between unbounded preceding and current row
            ) as removals
        from {{ followed.name }}
        where reason is null or reason not in ('not_compiled', 'internal_error')
    ),

    points as (
        select
            identity,
            producer,
            run_id,
            refreshed_at,
            recorded_at,
            definition_version,
            git_revision,
            build_mode,
            fingerprint,
            removals,
            lag(fingerprint) over (
                partition by identity, producer order by refreshed_at, run_id, recorded_at
            ) as previous_fingerprint,
            lag(definition_version) over (
                partition by identity, producer order by refreshed_at, run_id, recorded_at
            ) as previous_definition_version,
            lag(removals) over (
                partition by identity, producer order by refreshed_at, run_id, recorded_at
            ) as previous_removals,
            lag(build_mode) over (
                partition by identity, producer order by refreshed_at, run_id, recorded_at
            ) as previous_build_mode
        from ordered
        where status <> 'removed' and fingerprint is not null
    ),

    marked as (
        select
            *,
            case
                when
                    removals > previous_removals
                    and (
                        {{ lineage_post.is_other_definition(
                            'definition_version', 'previous_definition_version', 'build_mode'
                        ) }}
                    )
                    then 1
                else 0
            end as is_break
        from points
        where
            previous_fingerprint is null
            or fingerprint <> previous_fingerprint
            or removals > previous_removals
    ),

    edges as (
        select
            fingerprint,
            coalesce(to_column, '') as target,
            {{ lineage_post.joined(dbt.concat([
                'from_node', "'.'", 'from_column',
                "case when from_field is null then '' else " ~ dbt.concat(["'.'", 'from_field']) ~ " end",
                "case when type = 'DIRECT' then '' else " ~ dbt.concat(["' ('", 'subtype', "')'"]) ~ " end",
            ])) }} as sources
        from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_edges')) }}
        group by fingerprint, coalesce(to_column, '')
    ),

    columns as (
        select
            fingerprint,
            column_name as target,
            max(expression) as expression,
            max(state) as state
        from {{ lineage_post.all_rows(ref('lineage_post', 'lineage_columns')) }}
        where column_name is not null and column_name <> '*'
        group by fingerprint, column_name
    ),

    targets as (
        select fingerprint, target from columns
        union
        select fingerprint, target from edges
    ),

    derivations as (
        select
            targets.fingerprint,
            targets.target,
            columns.expression,
            columns.state,
            edges.sources
        from targets
        left join columns
            on targets.fingerprint = columns.fingerprint and targets.target = columns.target
        left join edges
            on targets.fingerprint = edges.fingerprint and targets.target = edges.target
    ),

    changed_targets as (
        select marked.identity, marked.producer, marked.run_id, derivations.target
        from marked
        inner join derivations on marked.fingerprint = derivations.fingerprint
        union
        select marked.identity, marked.producer, marked.run_id, derivations.target
        from marked
        inner join derivations on marked.previous_fingerprint = derivations.fingerprint
    ),

    compared as (
        select
            marked.*,
            changed_targets.target,
            earlier.target as earlier_target,
            later.target as later_target,
            earlier.sources as previous_sources,
            later.sources as sources,
            earlier.expression as previous_expression,
            later.expression as expression,
            earlier.state as previous_state,
            later.state as state
        from changed_targets
        inner join marked
            on
                changed_targets.identity = marked.identity
                and changed_targets.producer = marked.producer
                and changed_targets.run_id = marked.run_id
        left join derivations as earlier
            on
                marked.previous_fingerprint = earlier.fingerprint
                and changed_targets.target = earlier.target
        left join derivations as later
            on marked.fingerprint = later.fingerprint and changed_targets.target = later.target
    )

    select
        identity as node,
        case when target <> '' then target end as column_name,
        producer,
        refreshed_at as changed_at,
        recorded_at,
        run_id,
        git_revision,
        case
            when previous_fingerprint is null then 'first'
            when is_break = 1 then 'break'
            when earlier_target is null then 'added'
            when later_target is null then 'removed'
            else 'changed'
        end as change,
        previous_sources,
        sources,
        previous_expression,
        expression,
        previous_state,
        state,
        previous_definition_version,
        definition_version,
        previous_build_mode,
        build_mode
    from compared
    where
        previous_fingerprint is null
        or is_break = 1
        or earlier_target is null
        or later_target is null
        or coalesce(previous_sources, '') <> coalesce(sources, '')
        or coalesce(previous_expression, '') <> coalesce(expression, '')
        or coalesce(previous_state, '') <> coalesce(state, '')
{% endmacro %}
