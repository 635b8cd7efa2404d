"""``lineage-post serve``: the explorer and the graphs over HTTP. Needs the extra ``serve``."""
