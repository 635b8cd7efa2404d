"""The semantic layer: semantic models name columns, metrics name measures, queries name metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from lineage_post.artifacts import Node, Project
from lineage_post.consumers.use import Use, words

_PARTS = (("entities", "entity"), ("dimensions", "dimension"), ("measures", "measure"))
#: ``{{ Dimension('order__status') }}`` in a filter, ``order__status`` in a list.
_FILTERED = re.compile(r"(?:Dimension|TimeDimension|Entity)\(\s*['\"]([\w]+)['\"]")


class _Made:
    """What semantic models offer by name; ``primary`` are the entities that each one's rows are."""

    def __init__(self, primary: Mapping[str, Iterable[str]]) -> None:
        self.primary = primary
        self._by_name: dict[str, list[Use]] = {}

    def add(self, name: str, use: Use) -> None:
        self._by_name.setdefault(name, []).append(use)

    def named(self, name: str) -> list[Use]:
        return self._by_name.get(name, [])

    def called(self, name: str) -> list[Use]:
        """Those of a name with its entity in front, ``order__status``: of the semantic models that
        have this entity for their own, or of all where none has."""
        front, _, last = name.rpartition("__")
        found = self.named(last)
        entity = front.rpartition("__")[2]
        own = [use for use in found if entity in self.primary.get(use.unique_id, ())]
        return own or found


def semantic_uses(project: Project) -> Iterator[Use]:
    """The columns that semantic models name, then metrics and saved queries through them."""
    models = [n for n in project.nodes.values() if n.resource_type == "semantic_model"]
    made = _Made({model.unique_id: model.details.get("primary") or () for model in models})
    for model in sorted(models, key=lambda n: n.unique_id):
        for name, use in _of_model(model):
            made.add(name, use)
            yield use
    own_models = {model.name: model for model in models}
    known: dict[str, list[Use]] = {}
    for metric in _metrics_in_order(project):
        own = list(_aggregated(metric, own_models))
        known[metric.name] = [*own, *_of_metric(metric, made, known)]
        yield from known[metric.name]
    for query in project.nodes.values():
        if query.resource_type == "saved_query":
            yield from _of_query(query, made, known)


def _of_model(model: Node) -> Iterator[tuple[str, Use]]:
    """Each name that a metric may use, with the column behind it."""
    node = next((p for p in model.depends_on), None)
    if node is None:
        return
    for key, word in _PARTS:
        for item in model.details.get(key) or ():
            name = str(item["name"])
            for column in dict.fromkeys(words(item["expr"] or name)):
                role = f"{word} {name}"
                yield name, Use(model.unique_id, "semantic_model", node, column, role, (key, name))


def _of_metric(metric: Node, made: _Made, known: dict[str, list[Use]]) -> Iterator[Use]:
    named = [use for name in metric.details.get("measures") or () for use in made.named(name)
             if use.role.startswith("measure")]  # fmt: skip
    named += [use for name in metric.details.get("metrics") or () for use in known.get(name, ())]
    yield from _through(metric, "metric", [*named, *_filtered(metric, made)])


def _aggregated(metric: Node, models: dict[str, Node]) -> Iterator[Use]:
    """The columns that a metric names itself, where it aggregates without a measure."""
    model = models.get(str(metric.details.get("aggregates")))
    if model is None:
        return
    for column in dict.fromkeys(words(metric.details.get("expr") or metric.name)):
        for node in model.depends_on[:1]:
            yield Use(metric.unique_id, "metric", node, column, "metric expr", ("expr",))


def _of_query(query: Node, made: _Made, known: dict[str, list[Use]]) -> Iterator[Use]:
    named = [use for name in query.details.get("metrics") or () for use in known.get(name, ())]
    grouped = " ".join(query.details.get("group_by") or ())
    for name in dict.fromkeys([*_FILTERED.findall(grouped), *words(grouped)]):
        named += made.called(name)
    yield from _through(query, "saved_query", [*named, *_filtered(query, made)])


def _filtered(node: Node, made: _Made) -> Iterator[Use]:
    found = [name for text in node.details.get("filters") or () for name in _FILTERED.findall(text)]
    for name in [*found, *(node.details.get("constants") or ())]:
        yield from made.called(name)


def _through(node: Node, kind: str, uses: list[Use]) -> Iterator[Use]:
    seen = set()
    for use in uses:
        key = (use.node, use.column)
        if key not in seen:
            seen.add(key)
            # What is made of a metric knows the metric alone.
            is_own = use.through is None
            role = use.role if is_own else f"metric {use.unique_id.rsplit('.', 1)[-1]}"
            yield Use(node.unique_id, kind, use.node, use.column, role, through=use.unique_id)


def _metrics_in_order(project: Project) -> Iterator[Node]:
    """Metrics after those they are made of."""
    metrics = {n.unique_id: n for n in project.nodes.values() if n.resource_type == "metric"}
    done: set[str] = set()

    def visit(unique_id: str) -> Iterator[Node]:
        if unique_id in metrics and unique_id not in done:
            done.add(unique_id)
            for parent in metrics[unique_id].depends_on:
                yield from visit(parent)
            yield metrics[unique_id]

    for unique_id in sorted(metrics):
        yield from visit(unique_id)
