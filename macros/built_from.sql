{#- What each node was built from: the versions of the inputs of each refresh that counts. -#}
{% macro built_from(as_of=none, as_recorded=none) %}
    {{ return(adapter.dispatch('built_from', 'lineage_post')(as_of, as_recorded)) }}
{% endmacro %}

{% macro default__built_from(as_of, as_recorded) %}
    with current_refreshes as (
        {{ lineage_post.current_refreshes(as_of, as_recorded) }}
    ),

    inputs as (
        {{ lineage_post.unnest_inputs('current_refreshes') }}
    )

    select
        inputs.node,
        inputs.producer,
        inputs.input_node,
        inputs.kind,
        inputs.version,
        current_refreshes.run_id,
        current_refreshes.refreshed_at,
        current_refreshes.definition_version,
        current_refreshes.git_revision
    from inputs
    inner join current_refreshes
        on inputs.node = current_refreshes.node and inputs.producer = current_refreshes.producer
{% endmacro %}
