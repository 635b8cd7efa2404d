{#-
    Of each vertex of `graph` a number: the same for those that lead to each other, -1 for those that
    were taken away. In rounds: what nothing leads to, or what leads nowhere, is taken away; each that
    is left gets the greatest id that leads to it, and those that lead back to that one form a group
    with it.

    Source: the colouring algorithm for strongly connected components, as on distributed graphs.
-#}
{% macro cycle_numbers() %}
    {%- set peeled -%}
        transform(graph, vertex -> case
            when element_at(peeled, vertex.id) <> 0 then element_at(peeled, vertex.id)
            when
                size(filter(vertex.ahead, other -> element_at(peeled, other) = 0)) > 0
                and size(filter(vertex.behind, other -> element_at(peeled, other) = 0)) > 0
                then 0
            else -1
        end)
    {%- endset -%}
    {%- set reached_by -%}
        transform(graph, vertex -> case
            when element_at(reached_by, vertex.id) = 0 then 0
            else greatest(
                element_at(reached_by, vertex.id),
                coalesce(array_max(transform(vertex.behind, other -> element_at(reached_by, other))), 0)
            )
        end)
    {%- endset -%}
    {%- set leads_back -%}
        transform(graph, vertex -> case
            when element_at(leads_back, vertex.id) = 1 then 1
            when element_at(groups, vertex.id) = 0 then 0
            when size(filter(
                vertex.ahead,
                other -> element_at(leads_back, other) = 1
                    and element_at(groups, other) = element_at(groups, vertex.id)
            )) > 0 then 1
            else 0
        end)
    {%- endset -%}
    {%- set each_open = 'transform(graph, vertex -> if(element_at(left_over, vertex.id) = 0, vertex.id, 0))' -%}
    {%- set each_head = 'transform(graph, vertex -> if(element_at(groups, vertex.id) = vertex.id, 1, 0))' -%}
    {%- set numbered -%}
        transform(graph, vertex -> case
            when element_at(left_over, vertex.id) <> 0 then element_at(left_over, vertex.id)
            when element_at(backs, vertex.id) = 1 then element_at(groups, vertex.id)
            else 0
        end)
    {%- endset -%}
    {%- set round = lineage_post.named_value(
        'left_over', lineage_post.settled('peeled', 'numbers', peeled),
        lineage_post.named_value(
            'groups', lineage_post.settled('reached_by', each_open, reached_by),
            lineage_post.named_value(
                'backs', lineage_post.settled('leads_back', each_head, leads_back), numbered
            )
        )
    ) -%}
    {{ lineage_post.settled('numbers', 'transform(graph, vertex -> 0)', round) }}
{% endmacro %}
