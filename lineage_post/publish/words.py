"""The sentences that people read for states and reasons, one wording on every surface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineage_post.vocabulary import Reason, State, Subtype

if TYPE_CHECKING:
    from lineage_post.artifacts import Project

#: Why lineage is not known, as the end of "unknown: ...".
REASONS: dict[Reason, str] = {
    Reason.NOT_COMPILED: "its SQL was not compiled in this run",
    Reason.PYTHON_MODEL: "a Python model, whose columns no SQL describes",
    Reason.PARSE_ERROR: "its SQL could not be parsed",
    Reason.UNSUPPORTED_SYNTAX: "its SQL uses a construct that is not traced yet",
    Reason.SCHEMA_MISSING: "the columns of a relation it reads are not known",
    Reason.STAR_UNEXPANDED: "a star over a relation whose columns are not known",
    Reason.AMBIGUOUS: "a column name that several relations may have",
    Reason.UNRESOLVED_COLUMN: "a column that none of its relations has",
    Reason.DUPLICATE_COLUMN: "two output columns have the same name",
    Reason.NOT_IN_SQL: "the warehouse or YAML has the column, its SQL does not",
    Reason.EXTERNAL: "it is made outside this project",
    Reason.TOO_COMPLEX: "its SQL is too large to be traced",
    Reason.INTERNAL_ERROR: "a fault of the tracer",
}

#: What an influence does, as one or two plain words.
SUBTYPES: dict[Subtype, str] = {
    Subtype.IDENTITY: "identity",
    Subtype.TRANSFORMATION: "transformation",
    Subtype.AGGREGATION: "aggregation",
    Subtype.JOIN: "join",
    Subtype.FILTER: "filter",
    Subtype.GROUP_BY: "group by",
    Subtype.SORT: "sort",
    Subtype.WINDOW: "window",
    Subtype.CONDITIONAL: "conditional",
}

#: Known, and yet nothing flows in: not to be confused with unknown.
NO_SOURCE = "no source column: constant, counted or generated"


def why(state: State, reason: Reason | None) -> str:
    """``unknown: its SQL could not be parsed (parse_error)``; an empty text for what is known."""
    if state is State.KNOWN:
        return ""
    lead = "unknown" if state is State.UNKNOWN else "partly known"
    return f"{lead}: {REASONS[reason]} ({reason})" if reason else lead


def label(project: Project, unique_id: str) -> str:
    """``fct_orders``, ``pricing.v2`` for a version, ``shop.orders`` for a source's table."""
    node = project.nodes.get(unique_id)
    if node is None:
        return unique_id.removeprefix("external.")
    if node.resource_type == "source":
        return ".".join(unique_id.split(".")[2:])
    return node.label_or_name
