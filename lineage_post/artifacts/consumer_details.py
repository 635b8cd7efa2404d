"""What of a consumer names columns: constraints, unit tests, and the semantic layer's resources.

Plain lists and dicts, as ``Node.details`` holds them; names only, nothing of what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lineage_post.artifacts.access import mapping, take, text, texts


def constraint_details(resource: Any) -> dict[str, Any]:
    """``constraints`` of a model and of its columns: type, columns, expression."""
    found = [_constraint(c, ()) for c in _listed(take(resource, "constraints"))]
    for name, column in mapping(take(resource, "columns")).items():
        own = str(take(column, "name") or name)
        found += [_constraint(c, (own,)) for c in _listed(take(column, "constraints"))]
    return {"constraints": found}


def _constraint(constraint: Any, columns: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": text(take(constraint, "type")),
        "columns": list(columns or texts(take(constraint, "columns"))),
        "expression": text(take(constraint, "expression")),
    }


def _unit_test(resource: Any) -> dict[str, Any]:
    expect = take(resource, "expect") or {}
    return {
        "model": text(take(resource, "model")),
        "given": [
            {"input": text(take(given, "input")), "columns": _row_columns(take(given, "rows"))}
            for given in _listed(take(resource, "given"))
        ],
        "expect": _row_columns(take(expect, "rows")),
    }


def _row_columns(rows: Any) -> list[str]:
    """The columns that fixture rows name: keys of dicts, or the header of CSV text."""
    if isinstance(rows, str):
        header = rows.strip().split("\n", 1)[0]
        return [name.strip() for name in header.split(",")] if "select" not in rows.lower() else []
    names = (str(name) for row in rows or () if isinstance(row, dict) for name in row)
    return list(dict.fromkeys(names))


def _semantic_model(resource: Any) -> dict[str, Any]:
    defaults = take(resource, "defaults") or {}
    return {
        "entities": _named(take(resource, "entities")),
        "dimensions": _named(take(resource, "dimensions")),
        "measures": _named(take(resource, "measures")),
        "agg_time_dimension": text(take(defaults, "agg_time_dimension")),
    }


def _named(items: Any) -> list[dict[str, Any]]:
    return [
        {"name": text(take(item, "name")), "expr": text(take(item, "expr"))}
        for item in _listed(items)
    ]


def _metric(resource: Any) -> dict[str, Any]:
    params = take(resource, "type_params") or {}
    inputs = [*_listed(take(params, "input_measures")), take(params, "measure")]
    parts = [take(params, "numerator"), take(params, "denominator")]
    return {
        "measures": _names(inputs),
        "metrics": _names([*parts, *_listed(take(params, "metrics"))]),
        "filters": _filters(take(resource, "filter")),
    }


def _saved_query(resource: Any) -> dict[str, Any]:
    params = take(resource, "query_params") or {}
    return {
        "metrics": list(texts(take(params, "metrics"))),
        "group_by": list(texts(take(params, "group_by"))),
        "filters": _filters(take(params, "where")),
    }


def _filters(where: Any) -> list[str]:
    filters = _listed(take(where, "where_filters")) if where is not None else []
    return [str(take(one, "where_sql_template")) for one in filters]


def _names(items: Iterable[Any]) -> list[str]:
    names = (text(item if isinstance(item, str) else take(item, "name")) for item in items if item)
    return list(dict.fromkeys(name for name in names if name))


def _listed(items: Any) -> list[Any]:
    return list(items) if isinstance(items, (list, tuple)) else []


CONSUMER_DETAILS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "unit_test": _unit_test,
    "semantic_model": _semantic_model,
    "metric": _metric,
    "saved_query": _saved_query,
}
