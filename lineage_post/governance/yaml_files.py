"""Which file and which entry of it speaks of a column, and the file with patches made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

import yaml

from lineage_post.artifacts import Node, Project
from lineage_post.errors import LineageError
from lineage_post.governance import yaml_tree as tree
from lineage_post.governance.classification import Column
from lineage_post.governance.yaml_patch import Patcher, merged
from lineage_post.yaml_lines import CannotEditError

#: The text of a file of the project by its path below the project's folder; None without one.
Read = Callable[[str], "str | None"]
_SECTIONS = {"model": "models", "seed": "seeds", "snapshot": "snapshots", "source": "sources"}
_SETTINGS = ("tags", "meta")
_JINJA = ("{{", "{%", "{#")


@dataclass(frozen=True, slots=True)
class Entry:
    """The entry of a resource in YAML: ``Entry("models", "orders")``."""

    section: str
    name: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after; ``before`` None where it is to be made."""

    path: str
    before: str | None
    after: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A column that is not written, and why."""

    column: Column
    why: str


@dataclass(frozen=True, slots=True)
class Patches:
    """What is to be written of columns: for each a value to merge into its entry.

    ``tags`` and ``meta`` of a value go where the entry has them, else below ``config`` from dbt
    1.10 on, which asks for that.
    """

    project: Project
    read: Read
    of: Mapping[Column, Mapping[str, Any]]

    def plan(self) -> tuple[list[FileChange], list[Refused]]:
        """The files that change, sorted by path, and what cannot be written."""
        refused: list[Refused] = []
        files: dict[str, list[_Patch]] = {}
        for patch in self._placed(refused):
            files.setdefault(patch.path, []).append(patch)
        changes = []
        for path in sorted(files):
            before = self.read(path)
            after = _patched(before or "", files[path], path, refused)
            if after != (before or ""):
                changes.append(FileChange(path, before, after))
        return changes, sorted(refused, key=lambda r: r.column)

    @property
    def has_config(self) -> bool:
        """Whether this dbt reads ``config`` of a column."""
        numbers = [int(n) for n in (self.project.dbt_version or "").split(".")[:2] if n.isdigit()]
        return len(numbers) < 2 or tuple(numbers) >= (1, 10)

    def _placed(self, refused: list[Refused]) -> Iterator[_Patch]:
        done: set[tuple[str, Entry, str]] = set()
        for column in sorted(self.of):
            node = self.project.nodes.get(column[0])
            why = self._hindrance(node, column)
            if node is None or why is not None:
                refused.append(Refused(column, why or "no dbt node stands for it"))
                continue
            entry = Entry(_SECTIONS[node.resource_type], node.name, _source_name(node))
            patch = _Patch(
                column, self.home(node), entry, node.version, self.of[column], self.has_config
            )
            shared = node.version is not None and not self._has_own(node, patch)
            if shared and not self._is_agreed(node, column[1]):
                refused.append(Refused(column, "its versions share the entry and differ"))
            elif (patch.path, entry, column[1]) not in done or not shared:
                done.add((patch.path, entry, column[1]))
                yield patch if not shared else patch.of_all_versions()

    def _hindrance(self, node: Node | None, column: Column) -> str | None:
        if node is None or node.resource_type not in _SECTIONS:
            return "no YAML describes its columns"
        package = (node.patch_path or "").partition("://")[0] or node.package_name
        if {package, node.package_name} != {self.project.name}:
            return f"it belongs to the package {node.package_name}"
        if any(mark in column[1] for mark in _JINJA):
            return "its name holds Jinja"
        return None

    def home(self, node: Node) -> str:
        """The YAML file of a node, else the one where its neighbours are, else one to be made."""
        if node.patch_path:
            return node.patch_path.rpartition("://")[2]
        if node.path.endswith((".yml", ".yaml")):
            return node.path
        folder = PurePosixPath(node.path).parent
        homes = Counter(
            other.patch_path.rpartition("://")[2]
            for other in self.project.nodes.values()
            if other.patch_path
            and (other.resource_type, other.package_name) == (node.resource_type, node.package_name)
            and PurePosixPath(other.path).parent == folder
        )
        if homes:
            return min(homes, key=lambda path: (-homes[path], path))
        return str(folder / f"_{folder.name}.yml")

    def _versions(self, node: Node) -> list[Node]:
        return [
            other
            for other in self.project.nodes.values()
            if (other.resource_type, other.package_name, other.name)
            == (node.resource_type, node.package_name, node.name)
        ]

    def _is_agreed(self, node: Node, name: str) -> bool:
        """Whether all versions that share a column's entry are to get the same."""
        having = [
            other.unique_id
            for other in self._versions(node)
            if any(c.name.casefold() == name.casefold() for c in other.columns)
        ]
        wanted = [self.of.get((unique_id, name)) for unique_id in having]
        return bool(having) and all(w == wanted[0] for w in wanted)

    def _has_own(self, node: Node, patch: _Patch) -> bool:
        """Whether the version lists the column itself, beside what all versions share."""
        text = self.read(patch.path)
        try:
            document = tree.load(text) if text else None
        except yaml.YAMLError:
            return False
        found = _Found.of(None, document, patch)
        return found is not None and _named(found.value.get("columns"), patch.name) is not None


@dataclass(frozen=True, slots=True)
class _Patch:
    column: Column
    path: str
    entry: Entry
    version: str | None
    value: Mapping[str, Any]
    has_config: bool = True

    @property
    def name(self) -> str:
        return self.column[1]

    def of_all_versions(self) -> _Patch:
        return replace(self, version=None)

    def settled(self, present: Mapping[str, Any]) -> dict[str, Any]:
        """The value with its tags and meta where an entry of this content has them."""
        in_config = self.has_config or "config" in present
        top: dict[str, Any] = {}
        below: dict[str, Any] = {}
        for key, item in self.value.items():
            is_setting = key in _SETTINGS and key not in present and in_config
            (below if is_setting else top)[key] = item
        return {**top, "config": below} if below else top


@dataclass(frozen=True, slots=True)
class _Found:
    """The entry of a resource or of one version of it: its node, its value and where that is."""

    node: Any
    value: dict[str, Any]

    @staticmethod
    def of(root: Any, document: Any, patch: _Patch) -> _Found | None:
        found = _child(root, document, patch.entry.section, patch.entry.source or patch.entry.name)
        if found is not None and patch.entry.source is not None:
            found = _child(found.node, found.value, "tables", patch.entry.name)
        if found is not None and patch.version is not None:
            found = _child(found.node, found.value, "versions", patch.version, key="v")
        return found


def _child(node: Any, value: Any, section: str, name: str, key: str = "name") -> _Found | None:
    listed = value.get(section) if isinstance(value, dict) else None
    nodes = list(tree.items((tree.pair(node, section) or (None, None))[1]))
    for at, item in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(item, dict) and str(item.get(key)) == name:
            return _Found(nodes[at] if at < len(nodes) else None, item)
    return None


def _named(columns: Any, name: str) -> int | None:
    """The position of a column in a list: its exact name, else the only one but for case."""
    names = [c.get("name") if isinstance(c, dict) else None for c in columns or ()]
    if name in names:
        return names.index(name)
    same = [i for i, n in enumerate(names) if str(n).casefold() == name.casefold()]
    return same[0] if len(same) == 1 else None


def _patched(text: str, patches: Sequence[_Patch], where: str, refused: list[Refused]) -> str:
    """All patches at once; where that cannot be, one by one without those that cannot."""
    try:
        return _applied(text, patches, where)
    except CannotEditError:
        pass
    except LineageError as error:
        refused += [Refused(patch.column, error.message) for patch in patches]
        return text
    for patch in patches:
        try:
            text = _applied(text, [patch], where)
        except CannotEditError as error:
            refused.append(Refused(patch.column, error.message))
    return text


def _applied(text: str, patches: Sequence[_Patch], where: str) -> str:
    root = tree.compose(text, where=where)
    document = tree.load(text) if root is not None else {}
    expected = tree.unshared(document)
    patcher = Patcher(text, where)
    new: dict[Entry, list[_Patch]] = {}
    added: dict[int, tuple[_Found, list[dict[str, Any]]]] = {}
    for patch in patches:
        found, wanted = _Found.of(root, document, patch), _Found.of(None, expected, patch)
        if found is None or wanted is None:
            new.setdefault(patch.entry, []).append(patch)
            continue
        at = _named(found.value.get("columns"), patch.name)
        if at is None:
            item = {"name": patch.name, **patch.settled({})}
            added.setdefault(id(found.value), (found, []))[1].append(item)
            wanted.value["columns"] = merged(wanted.value.get("columns"), [item])
        else:
            nodes = list(tree.items((tree.pair(found.node, "columns") or (None, None))[1]))
            if len(nodes) <= at:
                raise CannotEditError(f"{where}: the columns of {patch.entry.name} are merged in.")
            present = found.value["columns"][at]
            patcher.merge(nodes[at], present, patch.settled(present))
            whole = wanted.value["columns"]
            whole[at] = merged(whole[at], patch.settled(present))
    for found, columns in added.values():
        _add_columns(patcher, found, columns)
    result = _with_entries(patcher.result(), new, expected, where)
    _verify(result, expected, where)
    return result


def _add_columns(patcher: Patcher, found: _Found, columns: list[dict[str, Any]]) -> None:
    own = tree.pair(found.node, "columns")
    if own is not None and list(tree.items(own[1])):
        patcher.append(own[1], found.value["columns"], columns)
    else:
        patcher.merge(found.node, found.value, {"columns": columns})


def _with_entries(
    text: str, new: Mapping[Entry, Iterable[_Patch]], expected: dict[str, Any], where: str
) -> str:
    """The text with entries for resources that have none, at the end of their section."""
    for entry, patches in new.items():
        if entry.source is not None:
            raise CannotEditError(f"{where}: there is no entry of {entry.source}.{entry.name}.")
        columns = [{"name": patch.name, **patch.settled({})} for patch in patches]
        item = {"name": entry.name, "columns": columns}
        if not text.strip():
            text = "version: 2\n"
            expected["version"] = 2
        root, document = tree.compose(text, where=where), tree.load(text)
        patcher = Patcher(text, where)
        own = tree.pair(root, entry.section)
        if own is not None and list(tree.items(own[1])):
            patcher.append(own[1], document[entry.section], [item])
        else:
            patcher.merge(root, document, {entry.section: [item]})
        expected[entry.section] = merged(expected.get(entry.section), [item])
        text = patcher.result()
    return text if text.endswith("\n") or not new else f"{text}\n"


def _verify(text: str, expected: Any, where: str) -> None:
    try:
        if tree.load(text) == expected:
            return
    except yaml.YAMLError:
        pass
    raise CannotEditError(
        f"{where}: laid out in a way that cannot be added to safely.",
        hint="An anchor that other entries share, for instance, is left alone.",
    )


def _source_name(node: Node) -> str | None:
    return str(node.details.get("source_name")) if node.resource_type == "source" else None
