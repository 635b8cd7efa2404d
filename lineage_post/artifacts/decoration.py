"""What this tool itself puts into ``manifest.json``, so that it is never read back as the user's.

``publish`` writes these marks after ``dbt docs generate``; reading a manifest leaves out what they
mark, and so a decorated manifest reads like the one that dbt wrote.
"""

from __future__ import annotations

import re

#: Around the lineage in a column's description; no Markdown renderer shows a link definition.
START, END = "[//]: # (lineage_post)", "[//]: # (/lineage_post)"
#: A key of a column entry that no YAML declares.
ADDED_KEY = "lineage_post"
#: The key under a node's ``meta`` that holds the summary of its lineage.
META_KEY = "column_lineage"
#: Where generated exposures say that they stand; no file of the user's has this path.
EXPOSURES_PATH = "lineage_post_exposures.yml"

_BLOCK = re.compile(rf"\s*{re.escape(START)}.*?{re.escape(END)}", re.DOTALL)


def own_text(description: str) -> str:
    """A description without what this tool added to it."""
    return _BLOCK.sub("", description)
