"""What a query says of its columns' values: constants they meet, and which are joined as keys.

Only a heuristic that makes filters and joins hit more often; it never decides an answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import duckdb
from sqlglot import exp

from tests.oracle.values import Taste

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.LT, exp.GTE, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_PATTERNS = (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.StartsWith)


@dataclass
class Hints:
    """Tastes by column name; names that are equated share one."""

    constants: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    keys: set[str] = field(default_factory=set)
    sorted: set[str] = field(default_factory=set)
    json_keys: list[str] = field(default_factory=list)
    _parents: dict[str, str] = field(default_factory=dict)

    def taste(self, name: str) -> Taste:
        group = self._root(name.lower())
        return Taste(
            constants=self.constants.get(group, ()),
            is_key=group in self.keys and group not in self.sorted,
            is_sorted=group in self.sorted,
            json_keys=self.json_keys or ("a", "b"),
        )

    def _root(self, name: str) -> str:
        while name in self._parents:
            name = self._parents[name]
        return name

    def _join(self, one: str, other: str) -> None:
        one, other = self._root(one), self._root(other)
        if one != other:
            self._parents[one] = other
            self.constants[other] += self.constants.pop(one, [])
            for names in (self.keys, self.sorted):
                if one in names:
                    names.add(other)

    def _add(self, name: str, value: Any) -> None:
        if value is not None:
            self.constants[self._root(name)].append(value)


def hints_of(query: exp.Expression, connection: duckdb.DuckDBPyConnection) -> Hints:
    """The hints of a parsed query; the connection computes its constant expressions."""
    hints = Hints()
    nodes = list(query.walk())
    for node in nodes:
        _learn_names(hints, node)
    for node in nodes:
        for name, constant in _meetings(node):
            hints._add(name, _value(constant, connection))
        _learn_texts(hints, node)
    for node in nodes:
        _learn_groups(hints, node)
    _flow_through_aliases(hints, nodes)
    return hints


def _learn_names(hints: Hints, node: exp.Expression) -> None:
    if isinstance(node, exp.Alias) and (column := _bare(node.this)):
        hints._join(node.alias.lower(), column)
    elif isinstance(node, (exp.EQ, exp.NullSafeEQ)):
        left, right = _bare(node.left), _bare(node.right)
        if left and right:
            hints._join(left, right)
            hints.keys.add(hints._root(left))
    elif isinstance(node, exp.In) and node.args.get("query"):
        select = node.args["query"].find(exp.Select)
        chosen = _bare(select.expressions[0].unalias()) if select and select.expressions else None
        for name in _names(node.this):
            if chosen:
                hints._join(name, chosen)
                hints.keys.add(hints._root(chosen))
    elif isinstance(node, exp.Join) and node.args.get("using"):
        hints.keys |= {hints._root(key.name.lower()) for key in node.args["using"]}


def _learn_groups(hints: Hints, node: exp.Expression) -> None:
    """Groups and partitions want several rows, orders want few ties."""
    grouped: list[exp.Expression] = []
    if isinstance(node, exp.Group):
        grouped = node.expressions
    elif isinstance(node, exp.Window):
        grouped = node.args.get("partition_by") or []
    hints.keys |= {hints._root(name) for key in grouped for name in _names(key)}
    if isinstance(node, exp.Ordered):
        hints.sorted |= {hints._root(name) for name in _names(node)} - hints.keys


def _meetings(node: exp.Expression) -> Iterator[tuple[str, exp.Expression]]:
    """Pairs of a column name and a constant expression it is compared with."""
    if isinstance(node, _COMPARISONS):
        for column, other in ((node.left, node.right), (node.right, node.left)):
            if not _names(other):
                yield from ((name, other) for name in _names(column))
            elif isinstance(other, (exp.Add, exp.Sub)) and not _names(other.right):
                for name in (*_names(column), *_names(other.left)):
                    yield name, exp.Literal.number(1)
                    yield name, other.right
    elif isinstance(node, exp.Between):
        for name in _names(node.this):
            yield name, node.args["low"]
            yield name, node.args["high"]
    elif isinstance(node, exp.In):
        for name in _names(node.this):
            yield from ((name, constant) for constant in node.expressions)
    elif isinstance(node, exp.Case) and node.this is not None:
        for name in _names(node.this):
            yield from ((name, branch.this) for branch in node.args["ifs"])
    elif isinstance(node, exp.Pivot):
        for choice in node.args.get("fields") or ():
            if isinstance(choice, exp.In):
                for name in _names(choice.this):
                    yield from ((name, constant.unalias()) for constant in choice.expressions)


def _learn_texts(hints: Hints, node: exp.Expression) -> None:
    if isinstance(node, _PATTERNS) and isinstance(node.expression, exp.Literal):
        pattern = node.expression.this
        for name in _names(node.this):
            hints._add(name, pattern.replace("%", "q").replace("_", "w"))
            hints._add(name, pattern.replace("%", "").replace("_", "w"))
    if isinstance(node, exp.Literal) and node.is_string:
        words = re.split(r"[^A-Za-z0-9_]+", node.this)
        hints.json_keys += [word for word in words if word and not word.isdigit()]
    elif isinstance(node, exp.JSONPathKey) and isinstance(node.this, str):
        hints.json_keys.append(node.this)


def _flow_through_aliases(hints: Hints, nodes: list[exp.Expression]) -> None:
    for node in nodes:
        if isinstance(node, exp.Alias):
            for value in hints.constants.get(hints._root(node.alias.lower()), [])[:8]:
                for name in _names(node.this):
                    if hints._root(name) != hints._root(node.alias.lower()):
                        hints._add(name, value)


def _bare(node: exp.Expression) -> str | None:
    while isinstance(node, (exp.Paren, exp.Cast, exp.TryCast)):
        node = node.this
    return node.name.lower() if isinstance(node, exp.Column) else None


def _names(node: exp.Expression | None) -> list[str]:
    return [column.name.lower() for column in node.find_all(exp.Column)] if node is not None else []


def _value(node: exp.Expression, connection: duckdb.DuckDBPyConnection) -> Any:
    if node.find(exp.Column, exp.Select, exp.Rand) is not None:
        return None
    try:
        row = connection.execute("select " + node.sql("duckdb")).fetchone()
    except duckdb.Error:
        return None
    return row[0] if row else None
