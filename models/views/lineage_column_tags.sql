{#- Spark copies each step of a walk into the plan of the next: planning alone takes minutes. -#}
{{ config(materialized='view', enabled=var('lineage_walking_views', target.type != 'spark')) }}
{%- set depth = var('lineage_tags_depth', 12) | int %}
-- Level by level and not by recursion: every warehouse can, and each level keeps one path a column.
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
),

final as (
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
)

select * from final
