"""File and line of a name: in the SQL of a node, or in the YAML that describes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import yaml

from lineage_post.artifacts import Node, Project
from lineage_post.consumers.use import Use

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: The text of a file by its package and its path in there, None where it cannot be read.
Read = Callable[[str, str], "str | None"]
_SECTIONS = {
    "model": "models",
    "seed": "seeds",
    "snapshot": "snapshots",
    "source": "sources",
    "exposure": "exposures",
    "semantic_model": "semantic_models",
    "metric": "metrics",
    "saved_query": "saved_queries",
    "unit_test": "unit_tests",
}
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/|\{#.*?#\}", re.DOTALL)


class Where(NamedTuple):
    """A path below the project's folder, and a line, counted from 1, where it is to be found."""

    file: str
    line: int | None


class Places:
    """Finds lines, reading each file once: ``Places(project, read).in_sql(node, "status")``."""

    def __init__(self, project: Project, read: Read) -> None:
        self._project = project
        self._read = read
        self._texts: dict[tuple[str, str], str | None] = {}
        self._trees: dict[tuple[str, str], Any] = {}

    def in_sql(self, node: Node, *names: str) -> Where:
        """The first line of the node's SQL that has one of the names, the first name first."""
        text = self._text(node.package_name, node.path) or node.raw_code
        blank = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
        for name in names:
            found = re.search(rf"(?i)(?<![\w$]){re.escape(name)}(?![\w$])", blank)
            if found is not None:
                return Where(node.path, blank.count("\n", 0, found.start()) + 1)
        return Where(node.path, None)

    def in_hook(self, owner: Node, sql: str, name: str) -> Where:
        """Where a hook's statement has a name: in its node's file, in YAML, or in the project."""
        head = sql.strip().split("\n", 1)[0].strip()
        patch = (owner.patch_path or "").rpartition("://")[2]
        for path in dict.fromkeys((owner.path, patch, "dbt_project.yml")):
            text = self._text(owner.package_name, path) or (
                owner.raw_code if path == owner.path else ""
            )
            start = text.find(head) if head else -1
            if start >= 0:
                found = re.compile(rf"(?i)(?<![\w$]){re.escape(name)}(?![\w$])").search(text, start)
                return Where(path, text.count("\n", 0, found.start() if found else start) + 1)
        return Where(owner.path, None)

    def of_node(self, node: Node, column: str) -> Where:
        """Where a node that SQL does not build speaks of a column."""
        tree = self._resource(node, node.path)
        return Where(node.path, _line(_search(tree, [column]) or tree))

    def of_use(self, use: Use) -> Where:
        """Where a consumer stores the name."""
        owner = self._project.nodes.get(use.unique_id)
        if owner is None:
            return Where("", None)
        if use.kind == "data_test":
            return self._of_test(owner, use)
        if use.kind == "config":
            return self._of_config(owner, use)
        path = owner.path if owner.resource_type in _SECTIONS and not owner.patch_path else ""
        path = (owner.patch_path or "").rpartition("://")[2] or path
        tree = self._resource(owner, path)
        return Where(path, _line(_search(tree, [*use.keys, use.column]) or tree))

    def of_test(self, test: Node) -> Where:
        """Where a generic test is declared: at a column, or among the tests of the node itself."""
        attached = self._project.nodes.get(str(test.details.get("attached_node")))
        if attached is None:
            return Where(test.path, None)
        tree = self._resource(attached, test.path, test.package_name)
        owner = tree
        if test.details.get("column"):
            named = _items(_value(tree, "columns"))
            owner = next((c for c in named if _is_named(c, str(test.details["column"]))), tree)
        listed = [*_items(_value(owner, "data_tests")), *_items(_value(owner, "tests"))]
        kind = str(test.details.get("test"))
        alike = [item for item in listed if _search(item, [kind]) is not None]
        named_so = [item for item in alike if test.name in {n.value for n in _below(item)}]
        found = named_so or alike
        return Where(test.path, _line(found[0] if found else owner or tree))

    def _of_config(self, owner: Node, use: Use) -> Where:
        # A hook is ``post_hook`` in SQL and ``post-hook`` in YAML.
        key = re.escape(use.role).replace(r"\-", "[-_]")
        text = self._text(owner.package_name, owner.path) or owner.raw_code
        found = re.search(rf"\b{key}['\"]?\s*[=:]", text)
        if found is not None and not owner.path.endswith((".yml", ".yaml")):
            return Where(owner.path, text.count("\n", 0, found.start()) + 1)
        path = (owner.patch_path or "").rpartition("://")[2] or owner.path
        tree = self._resource(owner, path)
        place = _search(tree, [use.role, use.column]) or _search(tree, [use.role])
        return Where(path, _line(place))

    def _of_test(self, test: Node, use: Use) -> Where:
        attached = self._project.nodes.get(str(test.details.get("attached_node")))
        if test.details.get("test") is None or attached is None:
            return self.in_sql(test, use.column)
        tree = self._resource(attached, test.path, test.package_name)
        column = str(test.details.get("column") or use.column)
        keys = ["columns", column, str(test.details["test"])]
        return Where(test.path, _line(_search(tree, keys) or tree))

    def _resource(self, node: Node, path: str, package: str | None = None) -> Any:
        """The mapping of a resource in its YAML file."""
        package = package or (node.patch_path or "").partition("://")[0] or node.package_name
        tree = self._tree(package, path)
        section = _value(tree, _SECTIONS.get(node.resource_type, ""))
        if node.resource_type == "source":
            for source in _items(section):
                if _scalar(_value(source, "name")) == node.details.get("source_name"):
                    section = _value(source, "tables")
        return next((i for i in _items(section) if _scalar(_value(i, "name")) == node.name), None)

    def _tree(self, package: str, path: str) -> Any:
        key = (package, path)
        if key not in self._trees:
            text = self._text(*key) if path.endswith((".yml", ".yaml")) else None
            try:
                self._trees[key] = yaml.compose(text, Loader=Loader) if text else None
            except yaml.YAMLError:
                self._trees[key] = None
        return self._trees[key]

    def _text(self, package: str, path: str) -> str | None:
        key = (package, path)
        if key not in self._texts:
            self._texts[key] = self._read(*key)
        return self._texts[key]


def _search(tree: Any, keys: list[str]) -> Any:
    """The node that the keys lead to, each looked for below the one before; names may be words of
    an expression. The last one that was found, None if the first was not."""
    found = None
    for key in keys:
        scalars = list(_below(tree))
        below = next((n for n in scalars if _is(n, key)), None)
        below = below or next((n for n in scalars if _has(n, key)), None)
        if below is None:
            continue
        found, tree = below, _owner(tree, below)
    return found


def _below(tree: Any) -> Iterator[Any]:
    """All scalars, in the order of the text."""
    if isinstance(tree, yaml.ScalarNode):
        yield tree
    elif isinstance(tree, yaml.SequenceNode):
        for item in tree.value:
            yield from _below(item)
    elif isinstance(tree, yaml.MappingNode):
        for key, value in tree.value:
            yield from _below(key)
            yield from _below(value)


def _is(scalar: Any, key: str) -> bool:
    text = str(scalar.value)
    return text.casefold() == key.casefold() or text.rpartition(".")[2] == key


def _has(scalar: Any, key: str) -> bool:
    return bool(re.search(rf"(?i)(?<![\w$]){re.escape(key)}(?![\w$])", str(scalar.value)))


def _owner(tree: Any, scalar: Any) -> Any:
    """What a scalar heads: the value of a key, the item of a list that has it as its name."""
    if isinstance(tree, yaml.MappingNode):
        for key, value in tree.value:
            if key is scalar:
                return value
            if value is scalar:
                return tree
            found = _owner(value, scalar)
            if found is not None:
                return found
    elif isinstance(tree, yaml.SequenceNode):
        for item in tree.value:
            if item is scalar:
                return item
            found = _owner(item, scalar)
            if found is not None:
                return found
    return None


def _is_named(column: Any, name: str) -> bool:
    return (_scalar(_value(column, "name")) or "").casefold() == name.strip('"`').casefold()


def _items(node: Any) -> list[Any]:
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _value(node: Any, key: str) -> Any:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for name, value in pairs if name.value == key), None)


def _scalar(node: Any) -> str | None:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None


def _line(node: Any) -> int | None:
    return node.start_mark.line + 1 if node is not None else None
