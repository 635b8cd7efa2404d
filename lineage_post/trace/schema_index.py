"""The columns of every relation of a project, looked up by the name that SQL gives a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lineage_post.trace.dialects import Case, Rules, rules_of

#: Position of a name that is not there, and of one that several columns have.
ABSENT, AMBIGUOUS = -1, -2


class Names:
    """Ordered names and the lookup of one by its key: exact first, then without case.

    ``exact`` and ``folded`` are built on first use; ``folded`` stays None where case cannot matter.
    """

    __slots__ = ("exact", "folded", "rules", "spellings")

    def __init__(self, spellings: Sequence[str], rules: Rules) -> None:
        self.spellings = spellings
        self.rules = rules
        self.exact: dict[str, int] | None = None
        self.folded: dict[str, int] | None = None

    def position(self, key: str) -> int:
        """The position of the column, or ABSENT, or AMBIGUOUS."""
        exact = self.exact
        if exact is None:
            exact = self.build()
        found = exact.get(key)
        if found is not None:
            return found
        return ABSENT if self.folded is None else self.folded.get(key.lower(), ABSENT)

    def build(self) -> dict[str, int]:
        """The exact lookup; called once."""
        exact = _positions(self.rules.keys_of(self.spellings))
        if self.rules.case is not Case.IGNORED and not all(
            map(self.rules.is_canonical, self.spellings)
        ):
            self.folded = _positions(list(map(str.lower, self.spellings)))
        self.exact = exact
        return exact


def _positions(keys: list[str]) -> dict[str, int]:
    positions = dict(zip(keys, range(len(keys))))
    if len(positions) < len(keys):
        seen: set[str] = set()
        for key in keys:
            if key in seen:
                positions[key] = AMBIGUOUS
            seen.add(key)
    return positions


class Entry:
    """A relation of the schema. ``is_complete`` False: it may have columns that are not listed."""

    __slots__ = ("is_complete", "key", "names", "parts", "types")

    def __init__(
        self,
        key: str,
        parts: tuple[str, ...],
        columns: Mapping[str, str | None],
        is_complete: bool,
        rules: Rules,
    ) -> None:
        self.key = key
        self.parts = parts
        self.names = Names(tuple(columns), rules)
        self.types: tuple[str | None, ...] = tuple(columns.values())
        self.is_complete = is_complete

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names in order, as the warehouse spells them."""
        return tuple(self.names.spellings)


class SchemaIndex:
    """Relations by one to three name parts; built once for a project, shared by every trace.

    A full name is found exact, then without case; a shorter name only if one relation alone ends
    so; a longer name finds a relation that was added with fewer parts.
    """

    def __init__(self, dialect: str | None) -> None:
        self.rules = rules_of(dialect)
        self._entries: dict[str, Entry] = {}
        self._full: dict[tuple[str, ...], Entry] = {}
        self._suffixes: dict[tuple[str, ...], Entry | None] = {}
        self._folded: dict[tuple[str, ...], Entry | None] = {}
        self._cache: dict[tuple[str, ...], Entry | None] = {}

    def add(
        self,
        parts: tuple[str, ...],
        columns: Mapping[str, str | None],
        *,
        key: str | None = None,
        complete: bool = True,
    ) -> None:
        """Adds a relation, or replaces the one of the same parts.

        ``parts`` are (database, schema, identifier) or fewer in the warehouse's spelling,
        ``columns`` ordered name -> data type or None, ``key`` what edges call the relation (the
        dotted parts by default).
        """
        key = ".".join(parts) if key is None else key
        entry = Entry(key, parts, columns, complete, self.rules)
        replaced = self._full.get(parts)
        self._full[parts] = entry
        self._entries[key] = entry
        for i in range(len(parts)):
            suffix = parts[i:]
            _put(self._suffixes, suffix, entry, replaced)
            _put(self._folded, tuple(part.lower() for part in suffix), entry, replaced)
        self._cache.clear()

    def by_key(self, key: str) -> Entry | None:
        """The relation that edges call ``key``."""
        return self._entries.get(key)

    def find(self, parts: Iterable[str]) -> Entry | None:
        """The relation a table name means, or None where none or several could be meant."""
        name = tuple(parts)
        if name not in self._cache:
            self._cache[name] = self._find(name)
        return self._cache[name]

    def _find(self, name: tuple[str, ...]) -> Entry | None:
        if name in self._full:
            return self._full[name]
        folded = tuple(part.lower() for part in name)
        found = self._suffixes.get(name) or self._folded.get(folded)
        if found is not None or name in self._suffixes or folded in self._folded:
            return found
        for i in range(1, len(name)):
            shorter = self._full.get(name[i:])
            if shorter is None:
                shorter = self._folded.get(folded[i:])
            if shorter is not None and len(shorter.parts) == len(name) - i:
                return shorter
        return None


def _put(
    index: dict[tuple[str, ...], Entry | None],
    name: tuple[str, ...],
    entry: Entry,
    replaced: Entry | None,
) -> None:
    present = index.get(name)
    alone = name not in index or (present is not None and present is replaced)
    index[name] = entry if alone else None


def index_of(
    schema: Mapping[str, Mapping[str, str | None]] | SchemaIndex, dialect: str | None
) -> SchemaIndex:
    """A schema as an index; names are dotted as SQL would write them."""
    if isinstance(schema, SchemaIndex):
        return schema
    index = SchemaIndex(dialect)
    for name, columns in schema.items():
        index.add(split_name(name), columns, key=name)
    return index


def split_name(name: str) -> tuple[str, ...]:
    """The parts of a dotted name; a part in quotes, backticks or brackets may hold dots."""
    parts: list[str] = []
    current, closing = "", ""
    for character in name:
        if closing:
            if character == closing:
                closing = ""
            else:
                current += character
        elif character in '"`[' and not current:
            closing = {"[": "]"}.get(character, character)
        elif character == ".":
            parts.append(current)
            current = ""
        else:
            current += character
    return tuple([*parts, current])
