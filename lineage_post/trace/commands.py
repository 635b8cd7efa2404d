"""Declared contracts of functions: each declared input reaches each declared output, no more.

A contract is ``{inputs: [...], outputs: [...]}``. An input is the name of a parameter (taken by
position, or by ``name => value``), a column of the relation that an argument names
(``enrich('main.public.orders')``), or a relation or ``relation.column`` in full. Without
``inputs`` every argument, or every declared column of the named relation, is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from lineage_post.trace.expressions import evaluate
from lineage_post.trace.frame import Frame
from lineage_post.trace.opens import OpenUnknown
from lineage_post.trace.ops import command_op
from lineage_post.trace.printing import printed
from lineage_post.trace.provenance import transformed
from lineage_post.trace.relation import AnyStep, Relation, Step
from lineage_post.trace.schema_index import split_name
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import Reason


@dataclass(frozen=True, slots=True)
class Contract:
    """What a function declares; ``inputs`` None means all it is given."""

    name: str
    inputs: tuple[str, ...] | None
    outputs: tuple[str, ...]


class Commands:
    """Contracts by function name, compared without case; a qualified name first."""

    __slots__ = ("_contracts",)

    def __init__(self, contracts: Mapping[str, Any]) -> None:
        self._contracts = {
            name.lower(): _contract(name, declared) for name, declared in contracts.items()
        }

    def find(self, name: str) -> Contract | None:
        """The contract of a function, if it has one."""
        if not self._contracts:
            return None
        folded = name.lower()
        return self._contracts.get(folded) or self._contracts.get(folded.rsplit(".", 1)[-1])


def _contract(name: str, declared: Any) -> Contract:
    settings = declared if isinstance(declared, Mapping) else {}
    inputs, outputs = settings.get("inputs"), settings.get("outputs")
    return Contract(
        name,
        None if inputs is None else tuple(map(str, inputs)),
        tuple(map(str, outputs or ())),
    )


@dataclass(slots=True)
class _Given:
    """What a call passes: influences by input name, in order."""

    values: dict[str, int]
    has_relation: bool = False


def call(t: Tracer, node: Any, contract: Contract, f: Frame) -> int:
    """A declared function in an expression."""
    x = _closure(t, node, contract, f)
    if x:
        t.log.append((command_op(contract.name), x))
    return x


def command_relation(t: Tracer, node: Any, contract: Contract, f: Frame) -> Relation:
    """A declared function in FROM: its declared outputs, each from each declared input."""
    start = len(t.log)
    x = call(t, node, contract, f)
    if not contract.outputs:
        detail = f"{contract.name} declares no outputs"
        open_ = OpenUnknown(contract.name, Reason.STAR_UNEXPANDED, detail)
        return Relation(t.rules, (), [], [], open_=open_)
    steps: list[AnyStep] = [Step(node, None, start, len(t.log), x) for _ in contract.outputs]
    return Relation(t.rules, contract.outputs, [x] * len(contract.outputs), steps)


def _closure(t: Tracer, node: Any, contract: Contract, f: Frame) -> int:
    given = _given(t, node, contract, f)
    if contract.inputs is None:
        return _union(given.values.values())
    x = 0
    folded = {name.lower(): name for name in given.values}
    covered = set()
    for name in contract.inputs:
        found = folded.get(name.lower())
        if found is not None:
            covered.add(found)
            x |= given.values[found]
            continue
        named = _of_schema(t, name)
        if not named and (given.has_relation or "." in name):
            t.warnings.append(f"{contract.name}: there is no input {name}")
        for column, y in named:
            x |= y
            if column.lower() in folded:
                covered.add(folded[column.lower()])
    left = [name for name, y in given.values.items() if name not in covered and y]
    if left:
        t.warnings.append(f"{contract.name}: no declared input covers {', '.join(sorted(left))}")
    return x


def _union(values: Any) -> int:
    x = 0
    for y in values:
        x |= y
    return x


def _of_schema(t: Tracer, name: str) -> list[tuple[str, int]]:
    """What an input that is no argument names: a whole relation, or ``relation.column``."""
    parts = split_name(name)
    if t.schema.find(parts) is not None:
        relation = t.table(parts)
        return [(c, transformed(x)) for c, x in zip(relation.spellings, relation.all())]
    if len(parts) == 1:
        return []
    relation, column = t.table(parts[:-1]), parts[-1]
    i = relation.position(t.rules.key_of(column))
    if i >= 0:
        return [(column, transformed(relation.at(i)))]
    if relation.open is not None:
        x = relation.open.column(t, t.rules.key_of(column), column)
        return [(column, transformed(x))]
    return []


def _given(t: Tracer, node: Any, contract: Contract, f: Frame) -> _Given:
    values: dict[str, int] = {}
    arguments = _arguments(node)
    has_relation = False
    for n, argument in enumerate(arguments):
        name, value = _named(argument)
        relation = _relation_argument(t, value, f)
        if relation is not None:
            has_relation = True
            for spelling, y in zip(relation.spellings, relation.all()):
                values[spelling] = values.get(spelling, 0) | transformed(y)
            continue
        x = transformed(evaluate(t, value, f))
        key = name or _parameter(contract, n, len(arguments), value)
        values[key] = values.get(key, 0) | x
    return _Given(values, has_relation)


def _parameter(contract: Contract, n: int, count: int, value: Any) -> str:
    """The name of the n-th argument: as declared, else as written."""
    written = printed(value)
    inputs = contract.inputs or ()
    column = value.name.lower() if isinstance(value, exp.Column) else ""
    by_name = next((i for i in inputs if i.lower() == column), None)
    if by_name is not None and column:
        return by_name
    taken = {i.lower() for i in inputs}
    if n < len(inputs) and column not in taken and len(inputs) >= n + 1:
        return inputs[n]
    return written


def _arguments(node: Any) -> Sequence[Any]:
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    found: list[Any] = []
    for value in node.args.values():
        found.extend(v for v in (value if isinstance(value, list) else [value])
                     if isinstance(v, exp.Expr))  # fmt: skip
    return found


def _named(argument: Any) -> tuple[str | None, Any]:
    if isinstance(argument, (exp.Kwarg, exp.PropertyEQ)):
        return str(argument.this.name), argument.expression
    return None, argument


def _relation_argument(t: Tracer, value: Any, f: Frame) -> Relation | None:
    """``'main.public.orders'``, ``table(orders)`` or a query: the columns of a relation."""
    if isinstance(value, exp.Literal) and value.is_string:
        parts = split_name(value.name)
        return t.table(parts) if t.schema.find(parts) is not None else None
    if isinstance(value, exp.Query):
        return t.query(t, value, f.env, f)
    if isinstance(value, exp.Anonymous) and str(value.name).lower() == "table":
        column = value.expressions[0] if value.expressions else None
        if isinstance(column, exp.Column):
            parts = tuple(
                t.spell(column.args[p]) for p in ("catalog", "db", "table", "this")
                if column.args.get(p) is not None
            )  # fmt: skip
            return t.table(parts)
    return None
