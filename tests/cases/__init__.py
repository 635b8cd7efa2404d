"""SQL cases as data: the statement, the schema it reads, and the lineage it must have."""
