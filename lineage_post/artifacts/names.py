"""Relation names: what dbt writes, turned into what the warehouse stores."""

from __future__ import annotations

import re

from lineage_post.artifacts.model import RelationName

#: Adapters that store unquoted names in upper case, and those that store them in lower case.
#: The others keep the spelling they are given.
UPPER = frozenset({"snowflake", "oracle", "db2", "exasol", "saphana", "teradata"})
LOWER = frozenset({"postgres", "redshift", "greenplum", "materialize", "risingwave", "trino"})

_PART = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[((?:[^\]]|\]\])*)\]|([^\s.\'"`\[\](),;]+)')


def folded(name: str, adapter_type: str) -> str:
    """``name`` as the warehouse stores it when it was written without quotes."""
    if adapter_type in UPPER:
        return name.upper()
    return name.lower() if adapter_type in LOWER else name


def parse_relation_name(relation_name: str, adapter_type: str) -> tuple[str, ...] | None:
    """The parts of a dotted, maybe quoted name as stored; None for ``read_csv('x')`` and such."""
    parts: list[str] = []
    position = 0
    text = relation_name.strip()
    while True:
        match = _PART.match(text, position)
        if match is None:
            return None
        parts.extend(_unquoted(match, adapter_type))
        position = match.end()
        if position == len(text):
            return tuple(parts)
        if text[position] != ".":
            return None
        position += 1


def _unquoted(match: re.Match[str], adapter_type: str) -> list[str]:
    double, tick, square, bare = match.groups()
    if bare is not None:
        return [folded(bare, adapter_type)]
    if double is not None:
        return [double.replace('""', '"')]
    if square is not None:
        return [square.replace("]]", "]")]
    # BigQuery also quotes a whole path: `project.dataset.table`.
    return tick.replace("``", "`").split(".") if adapter_type == "bigquery" else [tick]


def stored_name(
    relation_name: str | None,
    declared: RelationName,
    adapter_type: str,
) -> RelationName:
    """The stored name of a node: the parts of its ``relation_name``, else what dbt declares."""
    parts = parse_relation_name(relation_name, adapter_type) if relation_name else None
    if parts is None or len(parts) > 3:
        return declared
    padded = (None,) * (3 - len(parts)) + parts
    return RelationName(padded[0], padded[1], parts[-1])


def unquoted(name: str) -> str:
    """``"My column"`` -> ``My column``; what is not quoted is left as it is."""
    for start, end in (('"', '"'), ("`", "`"), ("[", "]")):
        if len(name) > 2 and name[0] == start and name[-1] == end:
            return name[1:-1].replace(end * 2, end)
    return name
