"""For each model the SQL to copy that tells why a row of it is there: a template, as data.

A page puts the reader's condition where ``placeholder`` stands, once it has checked that it is made
of the model's columns, literals and plain functions alone. Rewriting every model of a large project
would slow the docs down, so only so much SQL is rewritten; the command that gives it is always
there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lineage_post.provenance.template import FUNCTIONS, PLACEHOLDER
from lineage_post.trace.dialects import dialect_of

if TYPE_CHECKING:
    from lineage_post.artifacts import Node
    from lineage_post.lineage import Lineage

#: So many characters of compiled SQL are rewritten, and none that is longer than the second.
MOST_SQL = 250_000
MOST_OF_ONE = 20_000


def why_templates(lineage: Lineage, *, most: int = MOST_SQL) -> dict[str, Any]:
    """``{placeholder, functions, models: {unique_id: {sql, columns} or {refusal}}}``.

    ``functions`` are the names a condition may call. Models past ``most`` characters of SQL are
    left out, the largest first.
    """
    dialect = lineage.options.dialect or dialect_of(lineage.project.adapter_type)
    models: dict[str, dict[str, Any]] = {}
    left = most
    for node in sorted(_asked(lineage), key=lambda n: (len(n.compiled_code or ""), n.unique_id)):
        left -= len(node.compiled_code or "")
        if left < 0 or len(node.compiled_code or "") > MOST_OF_ONE:
            break
        models[node.unique_id] = _template(lineage, node, dialect)
    return {
        "placeholder": PLACEHOLDER,
        "functions": sorted(FUNCTIONS),
        "models": dict(sorted(models.items())),
    }


def why_template_of(lineage: Lineage, unique_id: str) -> dict[str, Any] | None:
    """The entry of one model, however large it is; None where it has no rows or no SQL."""
    dialect = lineage.options.dialect or dialect_of(lineage.project.adapter_type)
    found = [node for node in _asked(lineage) if node.unique_id == unique_id]
    return _template(lineage, found[0], dialect) if found else None


def _asked(lineage: Lineage) -> list[Node]:
    """Models and snapshots that have rows and SQL."""
    return [
        node
        for node in lineage.project.nodes.values()
        if node.resource_type in ("model", "snapshot")
        and node.unique_id in lineage.nodes
        and lineage.is_published(node.unique_id)
        and node.relation is not None
        and node.language == "sql"
        and node.compiled_code
    ]


def _template(lineage: Lineage, node: Node, dialect: str) -> dict[str, Any]:
    from sqlglot.errors import SqlglotError

    from lineage_post.provenance.refusal import Refusal
    from lineage_post.provenance.statement import why_template

    try:
        sql, columns = why_template(lineage, node.unique_id, dialect)
    except Refusal as refusal:
        return {"refusal": str(refusal)}
    except (SqlglotError, RecursionError) as error:
        return {"refusal": f"its SQL cannot be rewritten ({type(error).__name__})"}
    return {"sql": sql, "columns": columns}
