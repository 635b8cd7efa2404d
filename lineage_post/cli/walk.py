"""A column and what lies up and down of it, as text and as JSON."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.tree import Tree

from lineage_post.cli import console, wording
from lineage_post.cli.loading import Loaded
from lineage_post.cli.tree import Branches, grouped
from lineage_post.graph import Step
from lineage_post.lineage import ColumnLineage, Edge, Lineage
from lineage_post.vocabulary import EdgeType, State

if TYPE_CHECKING:
    from lineage_post.consumers import Use

#: So many columns are named in a summary line.
NAMED = 6


@dataclass(frozen=True, slots=True)
class Walk:
    """A column and how far to go from it; 0 means not in this direction, None without end."""

    loaded: Loaded
    node: str
    column: str
    up: int | None
    down: int | None
    indirect: bool

    @property
    def lineage(self) -> Lineage:
        return self.loaded.lineage

    def to_dict(self) -> dict[str, Any]:
        return {
            "metadata": self.loaded.metadata(),
            "column": {"unique_id": self.node, **_column_to_dict(self._column(), self.column)},
            "upstream": [self._step_to_dict(step) for step in self.steps(is_up=True)],
            "downstream": [self._step_to_dict(step) for step in self.steps(is_up=False)],
            "possibly_affected": self._possibly() if self.down != 0 else [],
            "named_by": [
                {"unique_id": use.unique_id, "kind": use.kind, "role": use.role}
                for use in (self._named_by() if self.down != 0 else ())
            ],
        }

    def show(self) -> None:
        if self.up != 0:
            self._show_tree(is_up=True, depth=self.up, title="comes from")
            self._show_deciding()
        if self.down != 0:
            self._show_tree(is_up=False, depth=self.down, title="is used by")
            uses = self._named_by()
            console.say(self._impact(is_named=bool(uses)))
            if uses:
                console.say(f"[quiet]named by:[/] {self._said_of(uses)}")

    def _column(self) -> ColumnLineage | None:
        traced = self.lineage.nodes.get(self.node)
        return traced.column(self.column) if traced else None

    def steps(self, *, is_up: bool) -> list[Step]:
        """The columns in one direction, nearest first."""
        depth = self.up if is_up else self.down
        if depth == 0:
            return []
        walk = self.lineage.graph.upstream if is_up else self.lineage.graph.downstream
        return walk(self.node, self.column, depth=depth, indirect=self.indirect)

    def _step_to_dict(self, step: Step) -> dict[str, Any]:
        return {
            "unique_id": step.node,
            "column": step.column,
            "depth": step.depth,
            "is_value": step.is_value,
            "edges": [self.loaded.edge_to_dict(edge) for edge in step.edges],
        }

    def _show_tree(self, *, is_up: bool, depth: int | None, title: str) -> None:
        tree = Tree(f"{self._title()} [quiet]{title}[/]", guide_style="quiet")
        branches = Branches(self.lineage, is_up, depth, self.indirect, self.loaded.recalled)
        branches.draw(tree, self.node, self.column)
        if not tree.children:
            tree.add(f"[quiet]{console.marked(self._nothing(is_up))}[/]")
        console.say(tree)

    def _title(self) -> str:
        name = wording.column_name(self.lineage, self.node, self.column)
        column = self._column()
        if column is None:
            return name
        kind = f" [quiet]{console.marked(column.data_type)}[/]" if column.data_type else ""
        return f"{name}{kind}{wording.state_of(column)}"

    def _nothing(self, is_up: bool) -> str:
        if not is_up:
            return "nothing"
        column = self._column()
        if column is not None and column.state is not State.KNOWN:
            return "not known"
        kind = self.node.split(".", 1)[0]
        if kind in ("seed", "source", "external"):
            return "data from outside the project"
        expression = column.expression if column else None
        return f"no column's value: {wording.shortened(expression or 'a constant')}"

    def _show_deciding(self) -> None:
        """What decides the column's branch or window, and the rows: once, not on every branch."""
        graph = self.lineage.graph
        own = [e for e in graph.edges_into(self.node, self.column) if e.type is EdgeType.INDIRECT]
        for label, edges in (
            ("decided by", own),
            ("rows decided by", list(graph.edges_into(self.node, None))),
        ):
            if edges and not self.indirect:
                console.say(f"[quiet]{label}:[/] {named(self.lineage, edges)}")

    def _named_by(self) -> list[Use]:
        """What stores the column's name beside SQL: settings, tests, contracts, metrics."""
        from lineage_post.consumers import Uses

        found = Uses(self.lineage).of(self.node, self.column)
        return [u for u in found if not u.is_text and self.lineage.is_published(u.unique_id)]

    def _said_of(self, uses: list[Use]) -> str:
        """``unique_key, data test not_null, measure revenue (semantic model orders)``."""
        said = dict.fromkeys(self._use(use) for use in uses)
        shown = list(said)[:NAMED]
        more = f" [quiet]and {len(said) - NAMED} more[/]" if len(said) > NAMED else ""
        return ", ".join(shown) + more

    def _use(self, use: Use) -> str:
        is_own = use.unique_id == self.node or use.kind == "data_test"
        owner = f"{use.kind.replace('_', ' ')} {wording.node_name(self.lineage, use.unique_id)}"
        return console.marked(use.role if is_own else f"{use.role} ({owner})")

    def _impact(self, *, is_named: bool = False) -> str:
        """What a change of the column does, counted, over all steps down."""
        graph = self.lineage.graph
        values = {(s.node, s.column) for s in graph.downstream(self.node, self.column)}
        consumers = {node for node, _ in values if self._kind(node) == "exposure"}
        columns = {(node, name) for node, name in values if node not in consumers}
        nodes = {node for node, _ in columns}
        rows = {node for node, _ in graph.reach(self.node, self.column)} - nodes - {self.node}
        said = [
            f"changes {wording.plural(len(columns), 'column')} in {self._counted(nodes)}"
            * bool(nodes),
            f"shows in {self._counted(consumers)}" * bool(consumers),
            f"decides rows, branches or windows of {self._counted(rows - consumers)}"
            * bool(rows - consumers),
            f"may affect {self._counted(self._possibly())}" * bool(self._possibly()),
        ]
        if not any(said):
            what = "No value and no row" if is_named else "Nothing"
            return f"[bold]{what} in the project depends on it.[/]"
        return f"[bold]A change of it[/] {', '.join(part for part in said if part)}."

    def _counted(self, nodes: Iterable[str]) -> str:
        """``3 models and 1 exposure``."""
        kinds = Counter(self._kind(node) for node in nodes)
        return " and ".join(wording.plural(count, kind) for kind, count in sorted(kinds.items()))

    def _kind(self, unique_id: str) -> str:
        node = self.lineage.project.nodes.get(unique_id)
        return node.resource_type.replace("_", " ") if node else "external relation"

    def _possibly(self) -> list[str]:
        """Readers of what is affected whose columns are not known, and all that reads those."""
        graph = self.lineage.graph
        affected = {self.node, *(node for node, _ in graph.reach(self.node, self.column))}
        found: set[str] = set()
        queue = deque(sorted(affected))
        while queue:
            node = queue.popleft()
            for reader in graph.readers(node):
                if reader in affected or reader in found:
                    continue
                if node in found or self.lineage.nodes[reader].state is not State.KNOWN:
                    found.add(reader)
                    queue.append(reader)
        return sorted(found)


def limit(plus: int | None, depth: int | None) -> int | None:
    """How far to go: the number at the plus sign, at most ``depth``; None is without end."""
    return depth if plus is None else plus if depth is None else min(plus, depth)


def named(lineage: Lineage, edges: Iterable[Edge]) -> str:
    """The sources of edges, each with how it acts; the rest is counted."""
    groups = list(grouped(edges, lambda edge: (edge.from_node, edge.from_column)))
    names = [
        f"{wording.column_name(lineage, node, column or '')} ({wording.subtypes(group)})"
        for (node, column), group in groups[:NAMED]
    ]
    more = f" [quiet]and {len(groups) - NAMED} more[/]" if len(groups) > NAMED else ""
    return ", ".join(names) + more


def _column_to_dict(column: ColumnLineage | None, name: str) -> dict[str, Any]:
    if column is None:
        return {"column": name, "data_type": None, "state": State.UNKNOWN.value, "reason": None,
                "detail": None, "expression": None}  # fmt: skip
    return {
        "column": column.name,
        "data_type": column.data_type,
        "state": column.state.value,
        "reason": column.reason and column.reason.value,
        "detail": column.detail,
        "expression": column.expression,
    }
