"""Whatever stores a column's name outside of SQL that builds a relation."""

from lineage_post.consumers.project_files import files_of
from lineage_post.consumers.use import Use
from lineage_post.consumers.uses import Uses
from lineage_post.consumers.yaml_places import Places, Where

__all__ = ["Places", "Use", "Uses", "Where", "files_of"]
