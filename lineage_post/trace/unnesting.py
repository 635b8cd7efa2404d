"""Arrays whose elements become rows: UNNEST, Redshift's ``t.items as i``, ClickHouse's joins."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Frame, Merged, Operand
from lineage_post.trace.opens import Open, OpenElement
from lineage_post.trace.printing import printed
from lineage_post.trace.provenance import JOIN, transformed
from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.shapes import Shape, Struct
from lineage_post.trace.tracer import Tracer


def array_of(t: Tracer, node: Any, f: Frame) -> tuple[int, int]:
    """An argument that is unnested: its provenance, recorded as a JOIN; and its log start."""
    start = len(t.log)
    f.is_partial, before = True, f.is_partial
    x = evaluate(t, node, f)
    f.is_partial = before
    t.decide(f, node, start, x, JOIN)
    return transformed(x), start


def listed_columns(t: Tracer, alias: Any) -> list[str]:
    columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    return [t.spell(c.this if isinstance(c, exp.ColumnDef) else c) for c in columns or ()]


def name_of_alias(t: Tracer, alias: Any) -> str | None:
    this = alias.args.get("this") if isinstance(alias, exp.TableAlias) else None
    return None if this is None else t.spell(this)


def exploded(t: Tracer, node: Any, f: Frame, alias: Any) -> Relation:
    """``unnest(a, b) with ordinality as u(x, y, n)``."""
    arrays = node.args["expressions"] if isinstance(node, exp.Unnest) else [node.args["this"]]
    elements = [array_of(t, array, f)[0] for array in arrays]
    shapes = [t.expression_shape(array, f) for array in arrays]
    names = listed_columns(t, alias)
    is_listed = bool(names)
    if not names:
        name = name_of_alias(t, alias)
        names = [t.rules.unnest_name or name or "unnest"]
    first = t.hooks.element_shape(t, shapes[0]) if shapes[0] is not None else None
    if t.rules.unnests_fields and len(arrays) == 1 and isinstance(first, Struct):
        return _fields_as_columns(t, node, alias, first)
    provenances: list[int] = []
    element_shapes: dict[int, Shape] = {}
    for i in range(len(names)):
        n = min(i, len(elements) - 1)
        provenances.append(elements[n])
        shape = shapes[n]
        element = t.hooks.element_shape(t, shape) if shape is not None else None
        if element is not None and len(names) == len(arrays):
            element_shapes[i] = element
    offset = node.args.get("offset")
    if offset is not None and not isinstance(offset, bool):
        names.append(t.spell(offset) if isinstance(offset, exp.Identifier) else "offset")
        provenances.append(0)
    steps: list[AnyStep] = [None] * len(names)
    open_ = None
    if len(arrays) == 1 and (t.rules.name == "bigquery" or not is_listed):
        open_ = _open_element(t, arrays[0], shapes[0], elements[0])
    return Relation(t.rules, names, provenances, steps, open_=open_, shapes=element_shapes)


def _open_element(t: Tracer, array: Any, shape: Shape | None, x: int) -> Open | None:
    """An element of a column without a known type may be a row, whose fields are read by name."""
    if not t.rules.unnests_fields or shape is not None or not isinstance(array, exp.Column):
        return None
    return OpenElement(printed(array, t.rules.dialect), x)


def _fields_as_columns(t: Tracer, node: Any, alias: Any, element: Struct) -> Relation:
    """An unnested struct is a row: its fields are columns, its alias stands for all of them."""
    fields = element.fields
    names, provenances, steps = list(fields.spellings), list(fields.all()), list(fields.steps)
    if t.rules.name != "bigquery":  # there sqlglot keeps the name of the row as a column's
        listed = listed_columns(t, alias)
        offset = node.args.get("offset")
        more = [t.spell(offset)] if isinstance(offset, exp.Identifier) else []
        names = [*listed, *names[len(listed) :], *more][: max(len(names) + len(more), len(listed))]
    provenances.extend([0] * (len(names) - len(provenances)))
    steps.extend([None] * (len(names) - len(steps)))
    return Relation(t.rules, names, provenances, steps, open_=fields.open, shapes=fields.shapes)


def indexed(t: Tracer, node: Any, f: Frame) -> Relation:
    """Redshift's ``from t, t.items as i at n``: the elements of an array and their positions."""
    item = node.args["this"]
    is_named = isinstance(item, exp.Alias)
    array = item.args["this"] if is_named else item
    x, _ = array_of(t, array, f)
    name = t.spell(item.args["alias"]) if is_named else str(array.name)
    names = [name, t.spell(node.args["expression"])]
    shape = t.expression_shape(array, f)
    element = t.hooks.element_shape(t, shape) if shape is not None else None
    shapes = {0: element} if element is not None else None
    return Relation(t.rules, names, [x, 0], [None, None], shapes=shapes)


def object_unpivot(t: Tracer, node: Any, f: Frame) -> Relation:
    """Redshift's ``from t, unpivot t.j as v at k``: the values and keys of an object."""
    value, key = node.args["this"], node.args["expression"]
    x, _ = array_of(t, value.args["this"], f)
    names = [t.spell(value.args["alias"]), t.spell(key)]
    return Relation(t.rules, names, [x, x], [None, None])


def array_join(t: Tracer, node: Any, f: Frame) -> None:
    """ClickHouse ``array join a as x``: x, or a itself, becomes the element."""
    for item in [node.args["this"], *(node.args.get("expressions") or ())]:
        inner = item.args["this"] if isinstance(item, exp.Alias) else item
        alias = item.args.get("alias")
        name = alias if isinstance(alias, exp.Identifier) else None
        if name is None:
            name = alias.this if isinstance(alias, exp.TableAlias) else inner.this
        column = exp.Column(this=inner.this) if isinstance(inner, exp.Table) else inner
        nested = _nested_elements(t, column, t.spell(name), f)
        if nested is not None:
            f.bring(Operand("", nested))
            continue
        x, _ = array_of(t, column, f)
        element = Relation(t.rules, (t.spell(name),), [x], [None])
        _replace(f, t.key(name), element)


def _replace(f: Frame, key: str, element: Relation) -> None:
    """An element hides the array of the same name."""
    f.bring(Operand("", element))
    holders = frozenset(i for i, o in enumerate(f.operands) if o.relation.position(key) >= 0)
    f.merge(key, Merged(element.at(0), None, element.spellings[0], holders))


def _nested_elements(t: Tracer, column: Any, name: str, f: Frame) -> Relation | None:
    """``array join nested as n``: the arrays ``nested.a`` and ``nested.b`` become n.a and n.b."""
    if not isinstance(column, exp.Column) or column.args.get("table") is not None:
        return None
    prefix = f"{t.spell(column.this)}."
    found: list[tuple[str, int]] = []
    for operand in list(f.operands):
        if operand.relation.position(prefix[:-1]) >= 0:
            return None
        for i, spelling in enumerate(operand.relation.spellings):
            if spelling.startswith(prefix):
                x = operand.relation.at(i)
                t.decide(f, column, len(t.log), x, JOIN)
                found.append((f"{name}.{spelling[len(prefix) :]}", transformed(x)))
    if not found:
        return None
    return Relation(t.rules, [n for n, _ in found], [x for _, x in found], [None] * len(found))
