"""The ordered columns of each relation, and where they were learned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from lineage_post.artifacts import CatalogTable, Node
from lineage_post.trace.schema_index import Entry, SchemaIndex
from lineage_post.vocabulary import Word


class Learned(Word):
    """Where columns were learned, the surest first. Only YAML's list may be incomplete."""

    TRACED = "traced"
    SEED = "seed"
    CATALOG = "catalog"
    DECLARED = "declared"
    INFERRED = "inferred"
    NOWHERE = "nowhere"


@dataclass(frozen=True)
class Columns:
    """The columns of one relation: name -> data type or None, in order.

    ``complete`` False: there may be columns that are not listed.
    """

    types: Mapping[str, str | None]
    learned: Learned
    complete: bool

    @cached_property
    def digest(self) -> str:
        """A hash of all that a reader of the relation can see of it."""
        return digest_of(self.to_json(), self.complete)

    def to_json(self) -> str:
        return json.dumps(list(self.types.items()), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, learned: Learned, complete: bool) -> Columns:
        return cls(dict(json.loads(text)), learned, complete)


NO_COLUMNS = Columns({}, Learned.NOWHERE, complete=False)


def digest_of(columns_json: str, complete: bool) -> str:
    """The hash of a relation's columns, from their JSON form."""
    text = f"{int(complete)}{columns_json}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def static_columns(
    node: Node, catalog: CatalogTable | None, header: Iterable[str] | None = None
) -> Columns:
    """What is known of a relation without tracing: CSV header, then catalog, then YAML.

    A seed's file goes before the catalog, since the next build makes the table from it; types
    still come from the catalog, then from YAML.
    """
    if header is not None:
        return typed(header, Learned.SEED, catalog, node)
    if catalog is not None:
        return Columns(dict(catalog.columns), Learned.CATALOG, complete=True)
    if node.columns:
        declared = {column.name: column.data_type for column in node.columns}
        return Columns(declared, Learned.DECLARED, complete=False)
    return NO_COLUMNS


def typed(
    names: Iterable[str], learned: Learned, catalog: CatalogTable | None, node: Node
) -> Columns:
    """A complete list of names with the types that the catalog or YAML gives them."""
    types = known_types(catalog, node)
    return Columns({name: types.get(name.casefold()) for name in names}, learned, complete=True)


def known_types(catalog: CatalogTable | None, node: Node) -> dict[str, str]:
    """Data types by folded column name; what the warehouse reports goes before YAML."""
    types = {c.name.casefold(): c.data_type for c in node.columns if c.data_type}
    if catalog is not None:
        types.update((name.casefold(), t) for name, t in catalog.columns.items() if t)
    return types


class ProjectIndex(SchemaIndex):
    """The schema index of a project: a relation is found by its full name, never by a bare one.

    All names are there from the start; columns only for the relations that are ``shown``.
    """

    def __init__(
        self, dialect: str | None, names: Iterable[tuple[tuple[str, ...], str]]
    ) -> None:
        super().__init__(dialect)
        self._names: dict[str, list[tuple[str, ...]]] = {}
        self._shown: dict[str, str] = {}
        for parts, key in names:
            self._names.setdefault(key, []).append(parts)
            self.add(parts, {}, key=key, complete=False)

    def find(self, parts: Iterable[str]) -> Entry | None:
        name = tuple(parts)
        found = super().find(name)
        if found is not None and len(name) == 1 and len(found.parts) > 1:
            return None
        return found

    def show(self, key: str, columns: Columns) -> None:
        """Puts the columns of a relation in, unless they are there already."""
        if self._shown.get(key) != columns.digest:
            self._shown[key] = columns.digest
            for parts in self._names.get(key, ()):
                self.add(parts, columns.types, key=key, complete=columns.complete)

    def digest(self, key: str) -> str:
        """The hash of the columns that are shown of a relation; empty if none are."""
        return self._shown.get(key, "")
