"""The column-lineage panel inside the pages that ``dbt docs generate`` writes."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

from lineage_post.publish.docs_data import encoded, script_safe

START, END = "<!-- lineage_post panel -->", "<!-- /lineage_post panel -->"
#: What stands in dbt's page where a static one has the artifact itself.
PLACEHOLDERS = {
    "manifest": '"MANIFEST.JSON INLINE DATA"',
    "catalog": '"CATALOG.JSON INLINE DATA"',
}
_PANEL = re.compile(rf"{re.escape(START)}.*?{re.escape(END)}\n?", re.DOTALL)
_END_OF_BODY = re.compile("</body>", re.IGNORECASE)


def with_panel(html: str, data: dict[str, Any]) -> str:
    """The page with the panel before ``</body>``; a panel that is there already is replaced."""
    bare = without_panel(html)
    ends = [match.start() for match in _END_OF_BODY.finditer(bare)]
    at = ends[-1] if ends else len(bare)
    return bare[:at] + _panel(data) + bare[at:]


def without_panel(html: str) -> str:
    """The page as dbt wrote it."""
    return _PANEL.sub("", html) if START in html else html


def static_page(html: str, *, manifest: str, catalog: str) -> str | None:
    """The page with both artifacts inlined, safe against ``</script>`` in any of their strings.

    None where the page has no place for them (it is not dbt's own, or was inlined before).
    """
    if not all(placeholder in html for placeholder in PLACEHOLDERS.values()):
        return None
    inlined = html.replace(PLACEHOLDERS["manifest"], script_safe(manifest))
    return inlined.replace(PLACEHOLDERS["catalog"], script_safe(catalog))


def _panel(data: dict[str, Any]) -> str:
    encoding, text = encoded(data)
    css, javascript = _asset("panel.css"), _asset("panel.js")
    return (
        f"{START}<style>\n{css}</style>\n"
        f'<script type="text/plain" id="lineage-post-data" data-encoding="{encoding}">'
        f"{text}</script>\n"
        f"<script>\n{javascript}</script>{END}\n"
    )


def _asset(name: str) -> str:
    return resources.files("lineage_post.publish").joinpath(name).read_text(encoding="utf-8")
