{#-
    Every column that a declared label reaches by its values, over `depth` tables, until it is masked
    or declassified: a row for each label and the column that declares it, by the shortest way.
-#}
{% macro column_tags(depth=12) %}
    {{ return(adapter.dispatch('column_tags', 'lineage_post')(depth)) }}
{% endmacro %}

{#- Level by level and not by recursion: every warehouse can, and each level keeps one path a column. -#}
{% macro default__column_tags(depth) %}
    with labels as (
        {{ lineage_post.column_labels() }}
    ),

    current_edges as (
        {{ lineage_post.current_edges() }}
    ),

    value_edges as (
        select distinct
            from_node,
            from_column,
            to_node,
            to_column
        from current_edges
        where
            type = 'DIRECT'
            and not masking
            and to_column is not null
    ),

    level_0 as (
        select distinct
            label,
            node as origin_node,
            column_name as origin_column,
            node,
            column_name,
            {{ dbt.concat(['node', "'.'", 'column_name']) }} as path
        from labels
        where effect = 'declared'
    ),
    {% for level in range(1, depth + 1) %}
    level_{{ level }} as (
        select
            label,
            origin_node,
            origin_column,
            node,
            column_name,
            path
        from (
            select
                earlier.label,
                earlier.origin_node,
                earlier.origin_column,
                value_edges.to_node as node,
                value_edges.to_column as column_name,
                {{ dbt.concat(['earlier.path', "' > '", 'value_edges.to_node', "'.'", 'value_edges.to_column']) }} as path,
                row_number() over (
                    partition by
                        earlier.label,
                        earlier.origin_node,
                        earlier.origin_column,
                        value_edges.to_node,
                        value_edges.to_column
                    order by earlier.path
                ) as choice
            from level_{{ level - 1 }} as earlier
            inner join value_edges
                on
                    earlier.node = value_edges.from_node
                    {%- if level == 1 %}
                    -- A nested field, by its path, is part of the column that holds it.
                    and (
                        lower(earlier.column_name) = lower(value_edges.from_column)
                        or {{ dbt.concat(['lower(value_edges.from_column)', "'.'"]) }}
                        = substring(lower(earlier.column_name), 1, length(value_edges.from_column) + 1)
                    )
                    {%- else %}
                    and earlier.column_name = value_edges.from_column
                    {%- endif %}
            left join labels
                on
                    labels.effect = 'declassified'
                    and labels.node = value_edges.to_node
                    and lower(labels.column_name) = lower(value_edges.to_column)
                    and (
                        labels.label = '*'
                        or labels.label = earlier.label
                        or {{ dbt.concat(['labels.label', "'='"]) }} = substring(earlier.label, 1, length(labels.label) + 1)
                    )
            where labels.node is null
        ) as reached
        where
            choice = 1
            and not (node = origin_node and lower(column_name) = lower(origin_column))
    ),
    {% endfor %}
    every_level as (
        {%- for level in range(0, depth + 1) %}
        select
            {{ level }} as distance,
            label,
            origin_node,
            origin_column,
            node,
            column_name,
            path
        from level_{{ level }}
        {{ 'union all' if not loop.last }}
        {%- endfor %}
    ),

    nearest as (
        select
            *,
            row_number() over (
                partition by label, origin_node, origin_column, node, column_name
                order by distance
            ) as choice
        from every_level
    )

    select
        node,
        column_name,
        label,
        distance = 0 as is_declared,
        origin_node,
        origin_column,
        cast(distance as {{ dbt.type_int() }}) as distance,
        cast(path as {{ dbt.type_string() }}) as path
    from nearest
    where choice = 1
{% endmacro %}

{#-
    The same with the edges named once, since Spark copies what is named: all labels go through the
    graph of all columns in one row, level by level.
-#}
{% macro spark__column_tags(depth) %}
    {%- set target = 'element_at(graph, next_id)' -%}
    {%- set goes_on -%}
        coalesce(size(filter({{ target }}.stops, stop ->
            stop = '*'
            or stop = step.origin.label
            or concat(stop, '=') = substring(step.origin.label, 1, length(stop) + 1)
        )), 0) < 1
        and not (
            {{ target }}.node = step.origin.node
            and lower({{ target }}.column_name) = lower(step.origin.column_name)
        )
    {%- endset -%}
    {%- set met -%}
        array_sort(flatten(transform(state.level, step -> transform(
            filter(element_at(graph, step.id).ahead, next_id -> {{ goes_on }}),
            next_id -> named_struct(
                'origin', step.origin, 'id', next_id, 'distance', step.distance + 1, 'path', step.path
            )
        ))))
    {%- endset -%}
    {#- In this order the first of those that meet in a column is that of the least path. -#}
    {%- set first_ones -%}
        if(size(met) = 0, met, transform(
            filter(
                sequence(1, size(met)),
                place -> place = 1
                    or element_at(met, place).id <> element_at(met, place - 1).id
                    or element_at(met, place).origin <> element_at(met, place - 1).origin
            ),
            place -> element_at(met, place)
        ))
    {%- endset -%}
    {%- set next_level -%}
        transform({{ first_ones }}, step -> named_struct(
            'origin', step.origin,
            'id', step.id,
            'distance', step.distance,
            'path', concat(
                step.path,
                ' > ',
                element_at(graph, step.id).node,
                '.',
                element_at(graph, step.id).column_name
            )
        ))
    {%- endset -%}
    {%- set next_state -%}
        {{ lineage_post.named_value('met', met, lineage_post.named_value(
            'next_level',
            next_level,
            "named_struct('level', next_level, 'reached', concat(state.reached, next_level))"
        )) }}
    {%- endset -%}
    with labels as (
        {{ lineage_post.column_labels() }}
    ),

    labels_of_node as (
        select
            node,
            collect_set(
                named_struct('label', label, 'node', node, 'column_name', column_name, 'effect', effect)
            ) as labels
        from labels
        group by node
    ),

    value_edges as (
        select distinct
            from_node,
            from_column,
            to_node,
            to_column,
            cast(null as int) as mark
        from (
            {{ lineage_post.current_edges() }}
        ) as current_edges
        where
            type = 'DIRECT'
            and not masking
            and from_column is not null
            and to_column is not null
    ),

    {{ lineage_post.vertices('value_edges') }},

    -- A nested field, by its path, is part of the column that holds it.
    labelled as (
        select
            vertices.*,
            transform(
                filter(labels_of_node.labels, one -> one.effect = 'declared' and (
                    lower(one.column_name) = lower(vertices.column_name)
                    or concat(lower(vertices.column_name), '.')
                    = substring(lower(one.column_name), 1, length(vertices.column_name) + 1)
                )),
                one -> named_struct(
                    'origin', named_struct(
                        'label', one.label, 'node', one.node, 'column_name', one.column_name
                    ),
                    'id', vertices.id,
                    'distance', 0,
                    'path', concat(one.node, '.', one.column_name)
                )
            ) as starts,
            transform(
                filter(labels_of_node.labels, one ->
                    one.effect = 'declassified' and lower(one.column_name) = lower(vertices.column_name)
                ),
                one -> one.label
            ) as stops
        from vertices
        left join labels_of_node on vertices.node = labels_of_node.node
    ),

    graph as (
        select
            array_sort(collect_list(named_struct(
                'id', id, 'node', node, 'column_name', column_name, 'ahead', ahead, 'stops', stops
            ))) as graph,
            flatten(collect_list(starts)) as starts
        from labelled
    ),

    walked as (
        select
            graph,
            {{ lineage_post.named_value(
                'beginning',
                "named_struct('level', starts, 'reached', filter(starts, start -> false))",
                'aggregate(array(' ~ (['beginning'] * depth) | join(', ') ~ '), beginning, (state, number) -> '
                ~ next_state ~ ').reached'
            ) }} as reached
        from graph
    ),

    every_level as (
        select distinct
            0 as distance,
            label,
            node as origin_node,
            column_name as origin_column,
            node,
            column_name,
            concat(node, '.', column_name) as path
        from labels
        where effect = 'declared'
        union all
        select
            found.distance,
            found.origin.label,
            found.origin.node,
            found.origin.column_name,
            found.node,
            found.column_name,
            found.path
        from walked
        lateral view inline(transform(reached, step -> named_struct(
            'origin', step.origin,
            'node', element_at(graph, step.id).node,
            'column_name', element_at(graph, step.id).column_name,
            'distance', step.distance,
            'path', step.path
        ))) found as origin, node, column_name, distance, path
    ),

    nearest as (
        select
            *,
            row_number() over (
                partition by label, origin_node, origin_column, node, column_name
                order by distance
            ) as choice
        from every_level
    )

    select
        node,
        column_name,
        label,
        distance = 0 as is_declared,
        origin_node,
        origin_column,
        distance,
        path
    from nearest
    where choice = 1
{% endmacro %}
