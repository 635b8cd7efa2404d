"""The semantic layer: semantic models name columns, metrics name measures, queries name metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lineage_post.artifacts import Node, Project
from lineage_post.consumers.use import Use, words

_PARTS = (("entities", "entity"), ("dimensions", "dimension"), ("measures", "measure"))
#: ``{{ Dimension('order__status') }}`` in a filter, ``order__status`` in a list.
_FILTERED = re.compile(r"(?:Dimension|TimeDimension|Entity)\(\s*['\"]([\w]+)['\"]")


def semantic_uses(project: Project) -> Iterator[Use]:
    """The columns that semantic models name, then metrics and saved queries through them."""
    models = [n for n in project.nodes.values() if n.resource_type == "semantic_model"]
    made: dict[str, list[Use]] = {}
    for model in sorted(models, key=lambda n: n.unique_id):
        for name, use in _of_model(model):
            made.setdefault(name, []).append(use)
            yield use
    known: dict[str, list[Use]] = {}
    for metric in _metrics_in_order(project):
        known[metric.name] = list(_of_metric(metric, made, known))
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


def _of_metric(
    metric: Node, made: dict[str, list[Use]], known: dict[str, list[Use]]
) -> Iterator[Use]:
    named = [use for name in metric.details.get("measures") or () for use in made.get(name, ())
             if use.role.startswith("measure")]  # fmt: skip
    named += [use for name in metric.details.get("metrics") or () for use in known.get(name, ())]
    yield from _through(metric, "metric", [*named, *_filtered(metric, made)])


def _of_query(
    query: Node, made: dict[str, list[Use]], known: dict[str, list[Use]]
) -> Iterator[Use]:
    named = [use for name in query.details.get("metrics") or () for use in known.get(name, ())]
    grouped = " ".join(query.details.get("group_by") or ())
    for name in dict.fromkeys([*_FILTERED.findall(grouped), *words(grouped)]):
        named += made.get(name.rpartition("__")[2], ())
    yield from _through(query, "saved_query", [*named, *_filtered(query, made)])


def _filtered(node: Node, made: dict[str, list[Use]]) -> Iterator[Use]:
    for text in node.details.get("filters") or ():
        for name in _FILTERED.findall(text):
            yield from made.get(name.rpartition("__")[2], ())


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
