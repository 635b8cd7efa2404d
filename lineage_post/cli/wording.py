"""Pieces of lineage as marked-up text, one wording for every command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lineage_post.cli.console import marked
from lineage_post.lineage import ColumnLineage, Edge, Lineage
from lineage_post.publish import words
from lineage_post.trace.result import Op
from lineage_post.vocabulary import Certainty, EdgeType, OpKind, Reason, State, Subtype

#: An expression longer than this is cut on the terminal; JSON has it whole.
EXPRESSION_WIDTH = 72


def node_name(lineage: Lineage, unique_id: str) -> str:
    """``fct_orders``, ``ver.v2`` for a version, ``web.sessions`` for a source's table."""
    return words.label(lineage.project, unique_id)


def column_name(lineage: Lineage, unique_id: str, column: str, field: str | None = None) -> str:
    path = f"{column}.{field}" if field else column
    return f"[node]{marked(node_name(lineage, unique_id))}[/].[column]{marked(path)}[/]"


def subtypes(edges: Iterable[Edge]) -> str:
    """How one column acts on another: ``aggregation, conditional``; indirect ones coloured."""
    found = {edge.subtype for edge in edges}
    ordered = [subtype for subtype in Subtype if subtype in found]
    return ", ".join(f"[{_style(s)}]{_words(s)}[/]" for s in ordered)


def remarks(edges: Sequence[Edge]) -> str:
    """``masked``, ``assumed`` and the commands that the edges pass through."""
    said = ["masked"] if any(edge.masking for edge in edges) else []
    if any(edge.certainty is Certainty.ASSUMED for edge in edges):
        said.append("assumed")
    said += [f"by {name}" for name in commands(op for edge in edges for op in edge.ops)]
    return f" [warning]({marked(', '.join(said))})[/]" if said else ""


def commands(ops: Iterable[Op]) -> list[str]:
    return list(dict.fromkeys(op.name for op in ops if op.kind is OpKind.COMMAND))


def expression(edges: Sequence[Edge]) -> str:
    """The SQL of the first edge that computes, on one line."""
    computing = (edge for edge in edges if edge.subtype is not Subtype.IDENTITY)
    text = next((edge.expression for edge in computing if edge.expression), "")
    return f" [quiet]{marked(shortened(text))}[/]" if text else ""


def shortened(text: str, width: int = EXPRESSION_WIDTH) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def state(value: State, reason: Reason | None = None) -> str:
    why = f" ({reason.value})" if reason else ""
    return f"[{value.value}]{value.value}{why}[/]"


def state_of(column: ColumnLineage) -> str:
    return "" if column.state is State.KNOWN else " " + state(column.state, column.reason)


def plural(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _style(subtype: Subtype) -> str:
    return "direct" if subtype.type is EdgeType.DIRECT else "indirect"


def _words(subtype: Subtype) -> str:
    return subtype.value.lower().replace("_", " ")


def native(hop: Mapping[str, Any]) -> str:
    """Where the data of a source are: ``glob s3://lake/*.parquet, by airbyte, virtual, ...``."""
    kind = str(hop["kind"]).replace("_", " ")
    said = [f"{kind} {hop['location']}"]
    said += [f"by {hop['loader']}"] if hop.get("loader") else []
    said += [str(hop["served"])] if hop.get("served") else []
    freshness = hop.get("freshness") or {}
    if freshness.get("loaded_at_field"):
        said.append(f"loaded at {freshness['loaded_at_field']}")
    said += [f"{key[:-6]} after {freshness[key]}" for key in ("warn_after", "error_after")
             if freshness.get(key)]  # fmt: skip
    return ", ".join(said)
