-- A table that no node of the project is: which columns it has is not known.
select * from {{ target.schema }}.outside
