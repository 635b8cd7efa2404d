"""Values cut to what a warehouse stores in a column and takes in a statement."""

from __future__ import annotations

import json

#: The most bytes of a text, and of a JSON document; single models have megabytes of SQL.
MOST_TEXT, MOST_JSON = 100_000, 4_000_000
#: Where a column or a statement holds less.
LESS_TEXT = {"athena": 25_000, "redshift": 65_535}
LESS_JSON = {"athena": 50_000, "bigquery": 300_000, "redshift": 65_535}
_MARK = " -- cut"
_JSON = frozenset({"column_derivations", "inputs", "native", "ops", "tags"})


def fitting(column: str, value: str, adapter_type: str) -> str | None:
    """The value as it can be stored: a text is cut and says so, a JSON document stays one.

    What was derived from what goes before how: derivations first lose their expressions. None
    where even that is too long.
    """
    if column in _JSON:
        most = LESS_JSON.get(adapter_type, MOST_JSON)
        return value if _size(value) <= most else _document(column, value, most)
    most = LESS_TEXT.get(adapter_type, MOST_TEXT)
    if _size(value) <= most:
        return value
    return value.encode("utf-8", "replace")[: most - len(_MARK)].decode("utf-8", "ignore") + _MARK


def _document(column: str, value: str, most: int) -> str | None:
    content = json.loads(value)
    if column == "column_derivations":
        for derivation in content.values():
            derivation["expression"] = None
    elif column == "inputs":
        content = [{k: one.get(k) for k in ("node", "version", "kind")} for one in content]
    short = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if _size(short) <= most:
        return short
    return "[]" if column in ("ops", "tags") else None


def _size(value: str) -> int:
    return len(value) if value.isascii() else len(value.encode("utf-8", "replace"))
