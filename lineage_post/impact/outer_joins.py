"""What a statement reads on the side of an outer join that is filled with nulls.

A row less there is no row less in the result: its values become null instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import sqlglot
from sqlglot import exp

from lineage_post.lineage import Lineage
from lineage_post.trace.dialects import dialect_of
from lineage_post.trace.spaces import readable

_OUTER = re.compile(r"(?i)\b(left|right|full)\b")


class OuterJoins:
    """``OuterJoins(lineage).reads(node, parent)``; each statement is parsed once, when asked of."""

    def __init__(self, lineage: Lineage) -> None:
        project = lineage.project
        self._relations, self._tasks = lineage.relations, lineage.tasks
        self._dialect = lineage.options.dialect or dialect_of(project.adapter_type)
        self._found: dict[str, list[Any]] = {}

    def reads(self, node: str, parent: str) -> bool:
        """Whether a node reads a parent on such a side."""
        key = self._relations.builder(parent)
        tables = (t for tree in self._filled(node) for t in tree.find_all(exp.Table))
        return any(self._node(node, table) in (key, parent) for table in tables)

    def filters(self, node: str, column: str) -> bool:
        """Whether a query on such a side decides its rows by a column of this name."""
        folded = column.casefold()
        clauses = (
            clause
            for tree in self._filled(node)
            for clause in tree.find_all(exp.Where, exp.Having, exp.Qualify, exp.Join)
        )
        return any(
            found.name.casefold() == folded
            for clause in clauses
            for found in (clause.args.get("on") or clause).find_all(exp.Column)
        )

    def _filled(self, node: str) -> list[Any]:
        """The tables and queries on such sides, and the CTEs that these read."""
        if node not in self._found:
            task = self._tasks.get(node)
            sql = task.sql if task is not None else ""
            try:
                tree: Any = None
                if _OUTER.search(sql) is not None:
                    tree = sqlglot.parse_one(readable(sql, self._dialect), read=self._dialect)
            except (sqlglot.errors.SqlglotError, RecursionError):
                tree = None
            self._found[node] = list(self._with_ctes(node, tree)) if tree is not None else []
        return self._found[node]

    def _with_ctes(self, node: str, tree: Any) -> Iterator[Any]:
        ctes = {cte.alias.casefold(): cte.this for cte in tree.find_all(exp.CTE)}
        # An ephemeral model is a node of its own, although it stands here as a CTE.
        for name in self._stops(node):
            ctes.pop(name, None)
        waiting = [side for join in tree.find_all(exp.Join) for side in _sides(join)]
        seen: set[int] = set()
        while waiting:
            side = waiting.pop()
            if id(side) in seen:
                continue
            seen.add(id(side))
            yield side
            named = (t for t in side.find_all(exp.Table) if not t.db)
            waiting += [ctes[t.name.casefold()] for t in named if t.name.casefold() in ctes]

    def _stops(self, node: str) -> dict[str, str]:
        return {name.casefold(): key for name, key in self._tasks[node].stop_at}

    def _node(self, node: str, table: Any) -> str | None:
        parts = tuple(part.name for part in table.parts)
        stop = self._stops(node).get(parts[0].casefold()) if len(parts) == 1 else None
        return stop or self._relations.find(parts)


def _sides(join: Any) -> Iterator[Any]:
    side = join.side.upper()
    if side in ("LEFT", "FULL"):
        yield join.this
    if side in ("RIGHT", "FULL"):
        select = join.parent
        start = select.args.get("from_") or select.args.get("from") if select else None
        if start is not None:
            yield start.this
        for other in (select.args.get("joins") or ()) if select else ():
            if other is join:
                break
            yield other.this
