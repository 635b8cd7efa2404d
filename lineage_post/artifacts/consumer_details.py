"""What of a consumer names columns: constraints, unit tests, and the semantic layer's resources.

Plain lists and dicts, as ``Node.details`` holds them; names only, nothing of what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from lineage_post.artifacts.access import mapping, take, text, texts

#: What of SQL names nothing, and may hold what nobody else is to see.
_NO_NAMES = re.compile(r"\{\{.*?\}\}|\{[%#].*?[%#]\}|--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)
_NAME = re.compile(r"\"([^\"]+)\"|`([^`]+)`|\[([^\]]+)\]|([^\W\d][\w$]*)")


#: The types of entities that a row of the semantic model stands for.
_KEYS = ("primary", "unique", "natural")


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
        "to": text(take(constraint, "to")),
        "to_columns": list(texts(take(constraint, "to_columns"))),
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
    """The columns that fixture rows name: keys of dicts, the header of CSV text, and of a query
    every word outside of its strings, among which they are."""
    if isinstance(rows, str):
        if re.search(r"(?i)\bselect\b", rows):
            return list(dict.fromkeys(names_in(rows)))
        header = rows.strip().split("\n", 1)[0]
        return [name.strip() for name in header.split(",")]
    names = (str(name) for row in rows or () if isinstance(row, dict) for name in row)
    return list(dict.fromkeys(names))


def names_in(sql: str) -> list[str]:
    """The words and quoted names of SQL, without its strings, comments and Jinja."""
    return ["".join(parts) for parts in _NAME.findall(_NO_NAMES.sub(" ", sql))]


def _semantic_model(resource: Any) -> dict[str, Any]:
    defaults = take(resource, "defaults") or {}
    return {
        "entities": _named(take(resource, "entities")),
        "primary": _primary(resource),
        "dimensions": _named(take(resource, "dimensions")),
        "measures": _named(take(resource, "measures")),
        "agg_time_dimension": text(take(defaults, "agg_time_dimension")),
    }


def _primary(resource: Any) -> list[str]:
    """The entities by which dimensions of this semantic model are called: ``order__status``."""
    entities = _listed(take(resource, "entities"))
    kinds = ((str(take(e, "name")), text(take(e, "type"))) for e in entities)
    own = text(take(resource, "primary_entity"))
    return [*([own] if own else []), *(name for name, kind in kinds if kind in _KEYS)]


def _named(items: Any) -> list[dict[str, Any]]:
    return [
        {"name": text(take(item, "name")), "expr": text(take(item, "expr"))}
        for item in _listed(items)
    ]


def _metric(resource: Any) -> dict[str, Any]:
    params = take(resource, "type_params") or {}
    conversion = take(params, "conversion_type_params") or {}
    cumulative = take(params, "cumulative_type_params") or {}
    measures = [
        *_listed(take(params, "input_measures")),
        take(params, "measure"),
        take(conversion, "base_measure"),
        take(conversion, "conversion_measure"),
    ]
    metrics = [
        take(params, "numerator"),
        take(params, "denominator"),
        take(cumulative, "metric"),
        # Those of dbt 1.12, which has no measures in its newer form of YAML.
        take(conversion, "base_metric"),
        take(conversion, "conversion_metric"),
        *_listed(take(params, "metrics")),
    ]
    inputs = [item for item in (*measures, *metrics) if item and not isinstance(item, str)]
    return {
        "measures": _names(measures),
        "metrics": _names(metrics),
        "filters": [f for one in (resource, *inputs) for f in _filters(take(one, "filter"))],
        "constants": [
            str(take(constant, key))
            for constant in _listed(take(conversion, "constant_properties"))
            for key in ("base_property", "conversion_property")
        ],
        **_aggregated(params),
    }


def _aggregated(params: Any) -> dict[str, Any]:
    """A metric that aggregates by itself, without a measure: of which semantic model, and what."""
    own = take(params, "metric_aggregation_params")
    if own is None:
        return {}
    return {
        "aggregates": text(take(own, "semantic_model")),
        "expr": text(take(own, "expr") or take(params, "expr")),
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
