"""JSON as orjson reads and writes it: what the standard library does, in a fraction of its time.

What orjson refuses the standard library takes: a lone surrogate, a whole number of more than 64
bits to be written, a key that is no text. Written JSON has no spaces, and characters beyond ASCII
as they are. What orjson does in its own way: such a number is read as the nearest float, and NaN
and infinities, which JSON has not, are written as null.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson

#: Only what JSON knows is written without asking ``default``.
_PLAIN = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_SORTED = _PLAIN | orjson.OPT_SORT_KEYS

Default = Callable[[Any], Any]


def loads(data: bytes | bytearray | memoryview | str) -> Any:
    """The value of a JSON text. Raises ValueError for what is none."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(bytes(data) if isinstance(data, memoryview) else data)


def dumps(value: Any, *, sort_keys: bool = False, default: Default | None = None) -> bytes:
    """The JSON of a value, in UTF-8 but for lone surrogates, which ``loads`` reads back.

    ``default`` gives a plain value for one that JSON has not. Raises TypeError where there is none.
    """
    try:
        return orjson.dumps(value, default, _SORTED if sort_keys else _PLAIN)
    except orjson.JSONEncodeError:
        text = json.dumps(
            value,
            sort_keys=sort_keys,
            default=default,
            ensure_ascii=False,
            separators=(",", ":"),
        )
        return text.encode("utf-8", "surrogatepass")


def dumps_text(value: Any, *, sort_keys: bool = False, default: Default | None = None) -> str:
    """The same as a text."""
    return dumps(value, sort_keys=sort_keys, default=default).decode("utf-8", "surrogatepass")
