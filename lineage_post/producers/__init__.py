"""What other producers say, read from their files as claims: names in, nodes out.

Nothing here writes; ``publish.claims`` makes rows of what is read.
"""

from lineage_post.producers.access_history import read_access_history
from lineage_post.producers.csv_edges import read_csv
from lineage_post.producers.dbt_index import read_dbt_index
from lineage_post.producers.openlineage import read_openlineage

__all__ = ["read_access_history", "read_csv", "read_dbt_index", "read_openlineage"]
