"""Markdown in which no name, SQL or description can turn into markup, Jinja or a table cell.

dbt's docs site renders descriptions with an old Markdown parser that knows no escaped pipe, its
search box shows them as HTML, and dbt reads the descriptions in YAML as Jinja. Numeric character
references are plain text to all three, so they stand for every character with a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

#: Punctuation with a meaning in Markdown, HTML or Jinja; an underscore only at the edge of a word.
_MARKUP = re.compile(r"[!#$&*:<>?@\[\\\]^`{|}~]|(?<![^\W_])_|_(?![^\W_])")
#: What may stand between backticks: no backtick, pipe, brace, angle bracket, ampersand, newline.
_CODE = re.compile(r"[\w \-.,:;=+/%'\"()*\[\]!?@#$^~]+")
#: Characters that reorder or hide text: bidirectional controls, zero-width ones, control codes.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
_SPACE = re.compile(r"\s+")
#: Resource types that have a page of their own in the docs site.
PAGES = frozenset(
    {"model", "seed", "snapshot", "source", "exposure", "metric", "semantic_model", "saved_query"}
)


def visible(text: str) -> str:
    """The text on one line, with characters that hide or reorder others spelled as ``U+202E``."""
    return _UNSEEN.sub(lambda m: f"(U+{ord(m[0]):04X})", _SPACE.sub(" ", text))


def text(value: str) -> str:
    """Any string as plain Markdown text: ``a|b`` becomes ``a&#124;b``."""
    return _MARKUP.sub(lambda m: f"&#{ord(m[0])};", visible(value))


def code(value: str, *, limit: int = 200) -> str:
    """A name or SQL in backticks where that is safe, else as plain text; cut at ``limit``."""
    shown = visible(value).strip()
    if len(shown) > limit:
        shown = shown[: limit - 1].rstrip() + "…"
    safe = shown.removesuffix("…")
    return f"`{shown}`" if safe and _CODE.fullmatch(safe) else text(shown)


def link(label: str, href: str) -> str:
    """A link whose target is percent-encoded; ``label`` is plain text."""
    return f"[{text(label)}]({quote(href, safe='#!/:?&=@+,;%~.-_')})"


def page(unique_id: str) -> str | None:
    """The address of a node's page in the docs site, or None for what has no page."""
    kind = unique_id.split(".", 1)[0]
    return f"#!/{kind}/{quote(unique_id, safe='')}" if kind in PAGES else None


def node_link(unique_id: str, label: str) -> str:
    """The node's label, as a link to its page where it has one."""
    address = page(unique_id)
    return link(label, address) if address else text(label)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the cells are Markdown made by this module, so no pipe is in them."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)
