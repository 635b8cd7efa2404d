"""Inherited labels as patches of the YAML that describes the columns, and as a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lineage_post.governance.classification import Column, Declared, declared_columns, label_values
from lineage_post.governance.flow import Arrival, Flow, Stop
from lineage_post.governance.gaps import Gap, gaps_of
from lineage_post.governance.yaml_files import Refused

Picks = Callable[[Column], bool]


def tag_patches(flow: Flow, picks: Picks) -> tuple[dict[Column, dict[str, Any]], list[Refused]]:
    """What each column must declare to have its inherited labels, in the way its origin does.

    Refused are columns whose own meta says something else under the same key.
    """
    patches: dict[Column, dict[str, Any]] = {}
    refused: list[Refused] = []
    for column, arrivals in flow.inherited.items():
        own = {label.text for label in flow.declared.get(column, ())}
        missing = [a for a in arrivals if a.label.text not in own]
        if not missing or not picks(column):
            continue
        meta = _meta_of(flow, column)
        patch, taken = _patch(missing, meta)
        refused += [Refused(column, f"its own meta says {key}: {meta[key]!r}") for key in taken]
        if patch:
            patches[column] = patch
    return patches, refused


def _patch(arrivals: list[Arrival], meta: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    tags: dict[str, None] = {}
    values: dict[str, dict[str, None]] = {}
    taken: dict[str, None] = {}
    for label in (arrival.label for arrival in arrivals):
        if label.how is Declared.TAG:
            tags.setdefault(label.key)
        elif label_values(meta, label.key) or "." in label.key:
            taken.setdefault(label.key)
        else:
            values.setdefault(label.key, {}).setdefault(label.value or "")
    patch: dict[str, Any] = {"tags": list(tags)} if tags else {}
    if values:
        patch["meta"] = {key: _written(list(found)) for key, found in values.items()}
    return patch, list(taken)


def _written(values: list[str]) -> Any:
    written = [True if value == "true" else value for value in values]
    return written[0] if len(written) == 1 else written


def _meta_of(flow: Flow, column: Column) -> Mapping[str, Any]:
    found = declared_columns(flow.lineage, column[0])
    return next((declared.meta for name, declared in found if name == column[1]), {})


def tags_to_dict(flow: Flow, picks: Picks) -> dict[str, Any]:
    """``columns`` with their labels and the paths that brought them, ``stopped`` and ``possible``.

    A path is a list of columns from the one that declares the label.
    """
    columns = sorted({*flow.declared, *flow.inherited})
    return {
        "columns": [_column(flow, column) for column in columns if picks(column)],
        "stopped": [_stop(stop) for stop in flow.stops if picks(stop.column)],
        "possible": [gap_to_dict(g) for g in gaps_of(flow.lineage, flow.carriers())],
    }


def _column(flow: Flow, column: Column) -> dict[str, Any]:
    own = flow.declared.get(column, ())
    return {
        **column_to_dict(column),
        "declared": [{"label": label.text, "as": label.how.value} for label in own],
        "inherited": [
            {
                "label": arrival.label.text,
                "origin": column_to_dict(arrival.origin),
                "path": [column_to_dict(step) for step in arrival.path],
                "certainty": arrival.certainty.value,
            }
            for arrival in flow.inherited.get(column, ())
        ],
    }


def _stop(stop: Stop) -> dict[str, Any]:
    return {
        **column_to_dict(stop.column),
        "label": stop.label.text,
        "by": stop.by.value,
        "operation": stop.operation,
        "path": [column_to_dict(step) for step in stop.path],
    }


def gap_to_dict(gap: Gap) -> dict[str, Any]:
    """A node that may have a value, as every document has it."""
    return {
        "unique_id": gap.unique_id,
        "columns": list(gap.columns),
        "because": gap.because,
        "reason": gap.reason,
    }


def column_to_dict(column: Column) -> dict[str, str]:
    """A column as every document has it."""
    return {"unique_id": column[0], "column": column[1]}
