"""dbt imports every installed module whose name starts with ``dbt_`` and looks for ``plugins``.

It does so on every command and without a try: whatever is wrong here must not stop dbt.
"""

from __future__ import annotations

from typing import Any

plugins: list[Any] = []

try:
    from lineage_post.bridge.plugin import LineagePostPlugin

    plugins.append(LineagePostPlugin)
except Exception:
    pass
