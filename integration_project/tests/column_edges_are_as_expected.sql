-- Both ways: an edge that is missing and an edge too many. What an incremental run filters by
-- is left out, since it is there from the second run on only.
{{ config(tags=['after_hook']) }}

with expected as (

    select * from {{ ref('expected_column_edges') }}

),

actual as (

    select from_node, from_column, to_node, to_column, type, subtype, masking
    from {{ ref('lineage_post', 'lineage_column_edges') }}
    where
        to_node in (select to_node from expected)
        and not (to_node = 'model.shop.fct_orders' and to_column is null)

),

missing as (

    select * from expected
    except
    select * from actual

),

too_many as (

    select * from actual
    except
    select * from expected

)

select 'missing' as difference, * from missing
union all
select 'too many' as difference, * from too_many
