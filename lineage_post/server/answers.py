"""The questions the server takes, answered from what a viewer sees."""

from __future__ import annotations

from typing import Any

from lineage_post.errors import OptionError, SelectionError
from lineage_post.impact import Analysis, Change, ChangeKind
from lineage_post.impact.asking import new_name
from lineage_post.impact.document import impact_to_dict
from lineage_post.impact.retype import checked_type
from lineage_post.policy import INCOMPLETE
from lineage_post.policy.redact import HIDDEN
from lineage_post.publish import federation as graphs
from lineage_post.publish.natives import natives_of
from lineage_post.publish.statement import statement_graph
from lineage_post.publish.why_sql import why_template_of
from lineage_post.selection import target_of
from lineage_post.server.state import Seen
from lineage_post.trace.dialects import ADAPTER_DIALECTS, rules_of

#: Why there is nothing to copy.
NO_SQL = "it has no SQL and rows, or they may not be shown"


def federation(
    seen: Seen, focus: str | None, direction: str, depth: int, indirect: bool
) -> dict[str, Any]:
    """The graph around ``focus``, of all columns without one. Raises SelectionError."""
    lineage = seen.view.lineage
    if focus is None:
        columns = [
            (n, c) for n in sorted(lineage.nodes) for c in lineage.graph.columns(n)
        ]  # The first ones are kept, and the answer says how many were not.
        found = graphs.federation(lineage, columns, depth=0, indirect=indirect)
    else:
        target = target_of(focus, lineage)
        names = [target.column] if target.column else lineage.graph.columns(target.node)
        found = graphs.federation(
            lineage,
            [(target.node, name) for name in names],
            direction=direction,
            depth=depth,
            indirect=indirect,
        )
    nodes = {node["unique_id"] for node in found["nodes"]}
    return {**found, "natives": _natives(seen, nodes), **_note(seen)}


def _natives(seen: Seen, nodes: set[str]) -> list[dict[str, Any]]:
    """The raw places below what is drawn, for viewers whose policy allows them."""
    if not seen.view.viewer.natives:
        return []
    return natives_of(seen.view.lineage, nodes, seen.loads)


def why(seen: Seen, node: str) -> dict[str, Any]:
    """The SQL to copy that tells why a row of a model is there. Raises SelectionError."""
    lineage = seen.view.lineage
    target = target_of(node, lineage)
    found = why_template_of(lineage, target.node) if lineage.options.expressions else None
    return {"unique_id": target.node, **(found or {"refusal": NO_SQL})}


def statement(seen: Seen, sql: str, dialect: str | None) -> dict[str, Any]:
    """The graph of a pasted statement; ``error`` where it is not SQL."""
    lineage = seen.view.lineage
    name = dialect or lineage.options.dialect or lineage.project.adapter_type
    name = ADAPTER_DIALECTS.get(name.lower(), name.lower())
    try:
        rules_of(name)
    except OptionError:
        known = sorted({*ADAPTER_DIALECTS, *ADAPTER_DIALECTS.values()})
        raise OptionError(
            f"there is no SQL dialect {dialect!r}", hint=f"Known: {', '.join(known)}."
        ) from None
    return statement_graph(sql, name, seen.schema, lineage.options)


def dependents(seen: Seen, column: str, change: str, to: str | None) -> dict[str, Any]:
    """What a change breaks. It is worked out on the whole project, since what is hidden breaks too,
    and told without the names of what the viewer may not see. Raises SelectionError."""
    view, full = seen.view, seen.full
    target = target_of(column, view.lineage)
    if target.column is None or target.node not in full.nodes:
        raise SelectionError(f"{column!r} is not a column that can be asked for")
    if change == "rename" and not to:
        raise OptionError("a rename needs its new name", hint="Add to=NAME.")
    new = new_name(column, to) if change == "rename" else to
    if change == "retype" and new:
        new = checked_type(view.lineage, (target.node, target.column), new)
    impact = Analysis(full).impact(Change(ChangeKind(change), target.node, target.column, new))
    return {**redacted(impact_to_dict(impact, full), seen), **_note(seen)}


def redacted(document: dict[str, Any], seen: Seen) -> dict[str, Any]:
    """An impact as a viewer sees it: hidden dependents stay without a name, others go."""
    ids = seen.view.shown
    told = {
        name: [_one(item, seen) for item in document[name] if item["unique_id"] in ids]
        for name in ("dependents", "possibly_affected", "passes", "mentions")
    }
    counts = {
        "breaks": [d for d in told["dependents"] if d.get("breaks")],
        "may_break": [d for d in told["dependents"] if d.get("may_break")],
        "depends": [d for d in told["dependents"] if not (d.get("breaks") or d.get("may_break"))],
        "possibly_affected": told["possibly_affected"],
    }
    summary = {name: _kinds(found) for name, found in counts.items()}
    return {**document, "summary": summary, **told}


def _kinds(found: list[dict[str, Any]]) -> dict[str, int]:
    each = {(item["kind"], item["unique_id"]) for item in found}
    return {kind: sum(k == kind for k, _ in each) for kind in sorted({k for k, _ in each})}


def _one(item: dict[str, Any], seen: Seen) -> dict[str, Any]:
    view = seen.view
    shown = view.shown[item["unique_id"]]
    if shown != item["unique_id"]:
        kept = {k: item[k] for k in ("kind", "how", "breaks", "breaks_on") if k in item}
        return {"unique_id": shown, "name": HIDDEN, "restricted": True, **kept}
    told = dict(item)
    if "path" in item:
        told["path"] = [
            _step(step, seen) for step in item["path"] if step["unique_id"] in view.shown
        ]
    if item["unique_id"] in view.telling:
        told["expression"] = None
        # What it is computed by is not to be seen: that it may break is.
        told |= {k: HIDDEN for k in ("may_break", "not_judged") if item.get(k)}
    if item.get("uses"):
        is_shown = item["uses"]["unique_id"] in view.shown
        told["uses"] = _step(item["uses"], seen) if is_shown else None
    if "because" in item:
        told["because"] = view.shown.get(item["because"], HIDDEN)
    return told


def _step(step: dict[str, Any], seen: Seen) -> dict[str, Any]:
    shown = seen.view.shown[step["unique_id"]]
    return step if shown == step["unique_id"] else {"unique_id": shown, "column": None}


def _note(seen: Seen) -> dict[str, Any]:
    return {"incomplete": INCOMPLETE if seen.view.is_incomplete else None}
