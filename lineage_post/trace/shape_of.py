"""The shape of a column or of an expression, worked out when a field of it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from lineage_post.trace import document_shapes as documents
from lineage_post.trace import shape_expressions as of
from lineage_post.trace import struct_shapes as structs
from lineage_post.trace.declared_shapes import source_shape
from lineage_post.trace.frame import Frame
from lineage_post.trace.relation import AnyStep, Arms, Relation, Step
from lineage_post.trace.shape_changes import is_null, merged
from lineage_post.trace.shapes import MaybeShape
from lineage_post.trace.tracer import Tracer


def column_shape(t: Tracer, relation: Relation, i: int) -> MaybeShape:
    """The shape of the i-th column of a relation."""
    t.spend()
    if relation.shapes is not None and i in relation.shapes:
        return relation.shapes[i]
    step = relation.steps[i]
    if step is None:
        return source_shape(t, relation.at(i))
    return _step_shape(t, step)


def _step_shape(t: Tracer, step: AnyStep) -> MaybeShape:
    if isinstance(step, Step) and step.frame is not None:
        if id(step) in t.shaping:
            return None
        t.shaping.add(id(step))
        shape = expression_shape(t, step.node, step.frame)
        t.shaping.discard(id(step))
        return shape
    if not isinstance(step, Arms):
        return None
    known = t.shapes.get(id(step))
    if known is None:
        known = t.shapes[id(step)] = step, None, _of_arms(t, step)
    return known[2]


def _of_arms(t: Tracer, step: Arms) -> MaybeShape:
    if not step.origins:
        return merged(t, [None if arm is None else _step_shape(t, arm) for arm in step.steps])
    columns = [(r, i) for r, i in step.origins if not _is_nothing(r.steps[i])]
    return merged(t, [column_shape(t, *c) for c in columns], [r.at(i) for r, i in columns])


def _is_nothing(step: AnyStep) -> bool:
    """An arm that has no value says nothing of the fields of the others."""
    return isinstance(step, Step) and is_null(step.node)


def expression_shape(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    """The shape of an expression; worked out once, but where variables of a lambda are in scope."""
    if f.bindings:
        return _worked_out(t, node, f)
    key = id(node), id(f), f.alias_visible, len(f.spellings)
    known = t.shapes.get(key)
    if known is None:
        known = t.shapes[key] = node, f, _worked_out(t, node, f)
    return known[2]


def _worked_out(t: Tracer, node: Any, f: Frame) -> MaybeShape:
    t.spend()
    for cls, shape in _SHAPES:
        if isinstance(node, cls):
            return shape(t, node, f)
    return None


def _classes(*names: str) -> tuple[type, ...]:
    return tuple(getattr(exp, name) for name in names if hasattr(exp, name))


_SHAPES: tuple[tuple[tuple[type, ...], Callable[[Tracer, Any, Frame], MaybeShape]], ...] = (
    (_classes("Column"), of.of_column),
    (_classes("Dot"), of.of_dot),
    (_classes("Order"), of.of_order),
    (_classes("WithinGroup"), of.of_within_group),
    (_classes("Paren", "Alias", "IgnoreNulls", "RespectNulls", "Limit"), structs.of_inner),
    (_classes("AnyValue", "First", "Last"), structs.of_inner),
    (_classes("Max", "Min"), of.of_extreme),
    (_classes("ArgMax", "ArgMin"), of.of_arg_max),
    (_classes("FirstValue", "LastValue", "NthValue"), structs.of_inner),
    (_classes("Lag", "Lead"), of.of_other_row),
    (_classes("Window"), of.of_window),
    (_classes("Filter", "HavingMax"), of.of_chosen),
    (_classes("Struct", "Tuple"), structs.of_struct),
    (_classes("ArrayAgg", "ArrayUniqueAgg"), of.of_array_agg),
    (_classes("Array", "List"), of.of_array),
    (_classes("ArrayDistinct", "ArrayReverse", "ArraySlice", "ArrayCompact"), structs.of_inner),
    (_classes("Reverse", "Shuffle"), structs.of_inner),
    (_classes("ArraySort", "SortArray"), of.of_sorted),
    (_classes("ArrayMax", "ArrayMin"), of.of_greatest),
    (_classes("ArrayFirst", "ArrayLast"), of.of_first),
    (_classes("Bracket"), of.of_bracket),
    (_classes("Explode", "Unnest"), of.of_exploded),
    (_classes("Case", "If"), of.of_case),
    (_classes("Coalesce"), of.of_coalesce),
    (_classes("Cast", "TryCast"), of.of_cast),
    (_classes("FromJson"), of.of_parsed),
    (_classes("Query"), of.of_query),
    (_classes("JSONObject"), documents.of_json_object),
    (_classes("StarMap"), documents.of_star_map),
    (_classes("ParseJSON", "JSONFormat", "ToVariant"), documents.of_written),
    (_classes("JSONExtract", "JSONExtractScalar"), documents.of_json_path),
    (_classes("Anonymous", "AnonymousAggFunc"), of.of_named_arguments),
)
