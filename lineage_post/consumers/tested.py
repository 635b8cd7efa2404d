"""Unit tests, whose fixtures name columns, and data tests, which name them in YAML or in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lineage_post.artifacts import Node, Project
from lineage_post.artifacts.names import unquoted
from lineage_post.consumers.use import Use, words

#: Arguments of generic tests that hold values or relations, not columns.
_NO_COLUMNS = frozenset({"model", "values", "to", "config", "compare_model", "severity"})
_REF = re.compile(r"\b(ref|source)\s*\(([^)]*)\)")


def unit_test_uses(node: Node, project: Project) -> Iterator[Use]:
    """The columns that a unit test's fixtures name, of its model and of what that reads."""
    parents = [project.nodes[p] for p in node.depends_on if p in project.nodes]
    for given in node.details.get("given") or ():
        found = _referred(given["input"] or "", node, parents, project)
        for name in given["columns"] if found else ():
            yield Use(node.unique_id, "unit_test", found or "", name, "given rows", ("given",))
    tested = next((p for p in parents if p.name == node.details.get("model")), None)
    for name in node.details.get("expect") or () if tested else ():
        assert tested is not None
        yield Use(node.unique_id, "unit_test", tested.unique_id, name, "expected rows", ("expect",))


#: unique_ids by what an argument of a test may call a node: its own name, or its unique_id.
Called = Mapping[str, Sequence[str]]


def called_nodes(project: Project) -> Called:
    """The nodes that a contract of this package can name."""
    found: dict[str, list[str]] = {}
    for node in project.nodes.values():
        if node.resource_type != "test":
            source = node.details.get("source_name") if node.resource_type == "source" else None
            for name in (f"{source}.{node.name}" if source else node.name, node.unique_id):
                found.setdefault(name, []).append(node.unique_id)
    return found


def data_test_uses(node: Node, project: Project, called: Called) -> Iterator[Use]:
    """The columns that a generic test may mean by its arguments, of the node it stands at, or, in
    a contract of this package, of those that it names."""
    name = node.details.get("test")
    kwargs = node.details.get("kwargs") or {}
    attached = node.details.get("attached_node") or next(iter(node.depends_on), None)
    if name is None or attached is None:
        return
    role = f"data test {name}"
    if node.details.get("namespace") == "lineage_post":
        yield from _contract_uses(node, attached, role, called)
        return
    listed = [str(node.details["column"])] if node.details.get("column") else []
    own = {k: v for k, v in kwargs.items() if k not in _NO_COLUMNS and k != "field"}
    own["where"] = node.details.get("where") or ""
    for column in dict.fromkeys([*listed, *words(_plain(own))]):
        yield Use(node.unique_id, "data_test", attached, column, role, ("tests", str(name)))
    parents = [project.nodes[p] for p in node.depends_on if p in project.nodes]
    to = _referred(str(kwargs.get("to") or ""), node, parents, project)
    for column in words(kwargs.get("field") or "") if to else ():
        yield Use(node.unique_id, "data_test", to or "", column, role, ("tests", str(name)))


def foreign_key_uses(node: Node, project: Project) -> Iterator[Use]:
    """The columns of another node that a foreign key of this one points at."""
    parents = [project.nodes[p] for p in node.depends_on if p in project.nodes]
    for constraint in node.details.get("constraints") or ():
        to = constraint.get("to") or ""
        # dbt writes a ref while it parses, and the relation's name once it has compiled.
        named = (p.unique_id for p in parents if p.relation_name and p.relation_name == to)
        found = _referred(to, node, parents, project) or next(named, None)
        for column in constraint.get("to_columns") or () if found else ():
            role = f"constraint {constraint['type']}"
            yield Use(node.unique_id, "constraint", found or "", column, role, ("constraints",))


def _contract_uses(node: Node, attached: str, role: str, called: Called) -> Iterator[Use]:
    """The column a contract of this package is on, and those it names as ``model.column``."""
    keys = ("tests", str(node.details.get("test")))
    if node.details.get("column"):
        yield Use(node.unique_id, "data_test", attached, str(node.details["column"]), role, keys)
    named = (node.details.get("kwargs") or {}).get("columns") or ()
    for text in [named] if isinstance(named, str) else named:
        for other, column in _called(str(text), called):
            yield Use(node.unique_id, "data_test", other, column, role, keys)


def _called(text: str, called: Called) -> Iterator[tuple[str, str]]:
    """The node and the column of ``model.column``, where that is no pattern: a column may have
    dots itself, and quotes around it."""
    for at in range(len(text) - 1, 0, -1):
        if text[at] == "." and text[:at] in called:
            if "*" not in text[at:]:
                yield from ((other, unquoted(text[at + 1 :])) for other in called[text[:at]])
            return


def _referred(text: str, node: Node, parents: list[Node], project: Project) -> str | None:
    """The node of ``ref('x', v=1)`` or ``source('a', 'b')``."""
    found = _REF.search(text)
    if found is None:
        return None
    arguments = [a.strip() for a in found.group(2).split(",")]
    names = [a.strip("'\" ") for a in arguments if "=" not in a]
    version = next((a.split("=")[1].strip("'\" ") for a in arguments if "=" in a), None)
    # A unit test depends on its model alone, which depends on what the test gives rows for.
    near = [project.nodes[g] for p in parents for g in p.depends_on if g in project.nodes]
    for parent in [*parents, *near]:
        source = (parent.details.get("source_name"), parent.name)
        is_meant = source == tuple(names) if found.group(1) == "source" else (
            bool(names) and parent.name == names[-1] and parent.resource_type != "source"
        )  # fmt: skip
        has_version = version is None or parent.version == version
        if is_meant and has_version:
            return parent.unique_id
    return None


def _plain(value: Any) -> Any:
    """Arguments without Jinja: ``{{ get_where_subquery(ref('x')) }}`` names no column."""
    if isinstance(value, str):
        return re.sub(r"\{\{.*?\}\}", " ", value)
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list) else ""
