"""The ordered columns of each relation, and where they were learned."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from lineage_post import fast_json
from lineage_post.artifacts import CatalogTable, Node
from lineage_post.artifacts.access import texts
from lineage_post.relations import without_temporary
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


class Columns:
    """The columns of one relation: ``types`` is name -> data type or None, in order.

    ``complete`` False: there may be columns that are not listed. ``digest`` is a hash of all that
    a reader can see of the relation. Either is made, or read from JSON, when it is looked at.
    """

    __slots__ = ("_digest", "_json", "_types", "complete", "learned")

    def __init__(self, types: Mapping[str, str | None], learned: Learned, complete: bool) -> None:
        self._types: Mapping[str, str | None] | None = types
        self._json: str | None = None
        self._digest: str | None = None
        self.learned = learned
        self.complete = complete

    @classmethod
    def from_json(cls, text: str, digest: str, learned: Learned, complete: bool) -> Columns:
        """The columns whose ``to_json()`` and digest were kept."""
        columns = cls({}, learned, complete)
        columns._types, columns._json, columns._digest = None, text, digest
        return columns

    @property
    def types(self) -> Mapping[str, str | None]:
        if self._types is None:
            self._types = dict(fast_json.loads(self._json or "[]"))
        return self._types

    @property
    def digest(self) -> str:
        if self._digest is None:
            text = f"{int(self.complete)}{self.to_json()}".encode("utf-8", "surrogatepass")
            self._digest = hashlib.sha256(text).hexdigest()[:24]
        return self._digest

    def to_json(self) -> str:
        if self._json is None:
            self._json = fast_json.dumps_text(list(self.types.items()))
        return self._json


NO_COLUMNS = Columns({}, Learned.NOWHERE, complete=False)


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
        types = {name: data_type or None for name, data_type in catalog.columns.items()}
        return Columns(types, Learned.CATALOG, complete=True)
    declared = {column.name: column.data_type for column in node.columns}
    for name, data_type in declared_outputs(node):
        declared.setdefault(name, data_type)
    return Columns(declared, Learned.DECLARED, complete=False) if declared else NO_COLUMNS


def declared_outputs(node: Node) -> list[tuple[str, str | None]]:
    """The outputs of a contract in ``meta: lineage``: a list of names, name -> type, or ``"*"``."""
    lineage = node.meta.get("lineage")
    outputs = lineage.get("outputs") if isinstance(lineage, Mapping) else None
    if isinstance(outputs, Mapping):
        return [(str(name), str(t) if t else None) for name, t in outputs.items()]
    if outputs == "*":
        return [(column.name, column.data_type) for column in node.columns]
    types = {column.name.casefold(): column.data_type for column in node.columns}
    return [(name, types.get(name.casefold())) for name in texts(outputs)]


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

    All names are known from the start, and put in once something asks for one that ends like them:
    most runs ask for few of a large project. Columns are there for relations that are ``shown``.
    """

    def __init__(self, dialect: str | None, names: Iterable[tuple[tuple[str, ...], str]]) -> None:
        super().__init__(dialect)
        self._names: dict[str, list[tuple[str, ...]]] = {}
        self._waiting: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self._shown: dict[str, str] = {}
        for parts, key in names:
            self._names.setdefault(key, []).append(parts)
            self._waiting.setdefault(parts[-1].lower(), []).append((parts, key))

    def find(self, parts: Iterable[str]) -> Entry | None:
        name = tuple(parts)
        self._put_in(name)
        found = super().find(name)
        if found is not None and len(name) == 1 and len(found.parts) > 1:
            return None
        return found

    def by_key(self, key: str) -> Entry | None:
        for parts in self._names.get(key, ()):
            self._put_in(parts)
        return super().by_key(key)

    def show(self, key: str, columns: Columns) -> None:
        """Puts the columns of a relation in, unless they are there already."""
        if self._shown.get(key) != columns.digest:
            self._shown[key] = columns.digest
            for parts in self._names.get(key, ()):
                self._put_in(parts)
                self.add(parts, columns.types, key=key, complete=columns.complete)

    def key_of(self, parts: tuple[str, ...]) -> str | None:
        """The node a name in SQL stands for, None where it is none of the project's."""
        entry = self.find(parts) or self.find(without_temporary(parts))
        return entry.key if entry is not None else None

    def digest(self, key: str) -> str:
        """The hash of the columns that are shown of a relation; empty if none are."""
        return self._shown.get(key, "")

    def _put_in(self, name: tuple[str, ...]) -> None:
        """Puts in all names whose last part is that of ``name``: no other can be meant by it."""
        for parts, key in self._waiting.pop(name[-1].lower(), ()):
            self.add(parts, {}, key=key, complete=False)
