"""Which columns carry which labels: the tags and meta keys that YAML declares on columns.

    columns:
      - name: email
        config: {tags: [pii], meta: {classification: confidential}}

labels ``email`` with ``pii`` and ``classification=confidential``. Tags of a node say how it is
selected, not what its columns hold, so they label nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from lineage_post.artifacts import DeclaredColumn
from lineage_post.lineage import Lineage
from lineage_post.vocabulary import Word

#: A column that exists: (unique_id, column name).
Column = tuple[str, str]

#: Meta keys that classify where none are asked for; any other key may hold anything.
META_KEYS = (
    "classification",
    "contains_pii",
    "data_classification",
    "pci",
    "phi",
    "pii",
    "sensitive",
    "sensitivity",
)
#: Every tag of a column.
ALL_TAGS = ("*",)
#: The key in a column's meta that is this tool's own.
OWN_KEY = "lineage"


class Declared(Word):
    """How a label is declared on a column."""

    TAG = "tag"
    META = "meta"


@dataclass(frozen=True, slots=True, order=True)
class Label:
    """One label as it is declared: tag ``pii``, or meta key ``pii`` with value True.

    ``text`` is its name: ``pii`` for both of these, ``classification=pii`` for another value.
    """

    text: str
    how: Declared
    key: str
    value: str | None = None


@dataclass(frozen=True)
class Classification:
    """What counts as a label: ``Classification(lineage, tags=["pii"], meta=["pii"])``.

    Tags may have ``*``. A meta selector is a key, with dots for what is nested, or ``key=value``.
    Without either, all tags of columns and META_KEYS count.
    """

    lineage: Lineage
    tags: tuple[str, ...] = ()
    meta: tuple[str, ...] = ()

    @cached_property
    def labels(self) -> dict[Column, tuple[Label, ...]]:
        """The labels declared on each column that has any, sorted."""
        found: dict[Column, set[Label]] = {}
        for unique_id in self.lineage.nodes:
            for name, declared in declared_columns(self.lineage, unique_id):
                labels = set(self._of(declared))
                if labels:
                    found.setdefault(held_by(self.lineage, unique_id, name), set()).update(labels)
        return {column: tuple(sorted(found[column])) for column in sorted(found)}

    def labels_of(self, column: DeclaredColumn) -> tuple[Label, ...]:
        """The labels of one declared column."""
        return tuple(self._of(column))

    def _of(self, column: DeclaredColumn) -> Iterator[Label]:
        is_open = not self.tags and not self.meta
        for tag in column.tags:
            if any(fnmatchcase(tag, wanted) for wanted in (ALL_TAGS if is_open else self.tags)):
                yield Label(tag, Declared.TAG, tag)
        for selector in META_KEYS if is_open else self.meta:
            yield from _meta_labels(column.meta, selector)


def classified(
    lineage: Lineage, *, tags: Collection[str] = (), meta: Collection[str] = ()
) -> dict[Column, frozenset[str]]:
    """The labels declared on columns that one of the selectors picks, by (unique_id, column)."""
    labels = Classification(lineage, tuple(tags), tuple(meta)).labels
    return {column: frozenset(label.text for label in found) for column, found in labels.items()}


def declared_columns(lineage: Lineage, unique_id: str) -> Iterator[tuple[str, DeclaredColumn]]:
    """The columns that YAML declares on a node, each with the name the lineage has for it."""
    node = lineage.project.nodes.get(unique_id)
    if node is None or not node.columns:
        return
    names = lineage.graph.columns(unique_id)
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(name.casefold(), []).append(name)
    for column in node.columns:
        same = folded.get(column.name.casefold(), [])
        # YAML often writes in lower case what the warehouse stores in upper.
        is_other = column.name not in same and len(same) == 1
        yield (same[0] if is_other else column.name), column


def held_by(lineage: Lineage, unique_id: str, name: str) -> Column:
    """The column that holds what YAML speaks of: nested fields are listed there by their path, as
    ``address.city``, and what is said of one is said of the column, since values are traced so."""
    names = {known.casefold(): known for known in lineage.graph.columns(unique_id)}
    head, dot, _ = name.casefold().partition(".")
    # Without a catalog a source has the columns that YAML lists, fields among them.
    is_field = dot and head in names and not lineage.graph.edges_out_of(unique_id, name)
    return unique_id, names[head] if is_field else name


def _meta_labels(meta: Mapping[str, Any], selector: str) -> Iterator[Label]:
    key, equals, wanted = selector.partition("=")
    for value in _values(_at(meta, key)):
        if equals and value.casefold() != wanted.strip().casefold():
            continue
        text = key if value == "true" else f"{key}={value}"
        yield Label(text, Declared.META, key, value)


def _at(meta: Any, key: str) -> Any:
    """The value of a key, else that of a path: ``governance.pii``."""
    if not isinstance(meta, Mapping):
        return None
    if key in meta:
        return meta[key]
    head, dot, rest = key.partition(".")
    return _at(meta.get(head), rest) if dot else None


def _values(value: Any) -> Iterator[str]:
    """The values that say something, as text; ``false``, ``no`` and nothing say nothing."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _values(item)
    elif value is True:
        yield "true"
    elif value is not None and value is not False and not isinstance(value, Mapping):
        text = str(value).strip()
        if text.casefold() not in ("", "false", "no", "none", "null"):
            yield "true" if text.casefold() in ("true", "yes") else text


def label_values(meta: Mapping[str, Any], key: str) -> list[str]:
    """What a column's meta says under a key: ``true`` or texts; nothing where it denies."""
    return list(_values(_at(meta, key)))
