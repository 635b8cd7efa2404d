"""Traces kept between runs, by content.

One file: a line of JSON that says what the file is, a JSON index, then the packed lineages one
after another. JSON and zlib only, so that a hostile file can at worst be wrong, never run code; a
file that is corrupt, of another version or not ours is as good as none.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from lineage_post import fast_json
from lineage_post.vocabulary import Reason, State

FORMAT = "lineage-post cache 1"

HERE = Path(__file__).parent

#: Different schemas under which one text was traced that are kept (say, two targets).
MAX_VARIANTS = 4
#: A trace that so many saved runs had no use for is dropped; so is the oldest above the size.
MAX_UNUSED_RUNS = 10
MAX_BYTES = 256_000_000


class Read(NamedTuple):
    """A relation a trace looked up: its name in the SQL, the node it found and a hash of what it
    saw of that node's columns (``key`` None, ``digest`` empty: no node)."""

    parts: tuple[str, ...]
    key: str | None
    digest: str


class Record(NamedTuple):
    """What tracing one node gave: everything other nodes need of it, and its lineage, packed.

    ``reads`` is the slice of schema it depends on; ``names`` a hash of all relation names it was
    looked up among. ``used`` lists columns that were read of relations whose columns are not all
    known. ``schema`` is the JSON of the columns its readers see.
    """

    state: State
    reason: Reason | None
    detail: str | None
    operation: str
    fingerprint: str
    counts: tuple[int, int, int]
    inputs: tuple[str, ...]
    reads: tuple[Read, ...]
    names: str
    used: tuple[tuple[str, tuple[str, ...]], ...]
    schema: str
    schema_digest: str
    learned: str
    is_complete: bool
    notes: tuple[tuple[str, str], ...]
    packed: bytes | memoryview


class Cache:
    """Records by content key: ``cache.find(key, is_valid)`` and ``cache.add(key, record)``.

    ``Cache()`` lives in memory; ``Cache.open(folder, engine)`` is filled from the folder's file,
    and ``save()`` writes it back if anything is new.
    """

    def __init__(self, path: Path | None = None, engine: str = "") -> None:
        self._path = path
        self._engine = engine
        self._variants: dict[str, list[Record]] = {}
        self._unused: dict[str, int] = {}
        self._touched: set[str] = set()
        self._is_dirty = False

    @classmethod
    def open(cls, folder: Path, engine: str) -> Cache:
        """The cache of a folder, empty if its file is missing, damaged or of another engine."""
        cache = cls(folder / "traces.bin", engine)
        with suppress(OSError, ValueError, TypeError, KeyError, IndexError, RecursionError):
            variants, unused = _read((folder / "traces.bin").read_bytes(), engine)
            cache._variants, cache._unused = variants, unused
        return cache

    def __len__(self) -> int:
        return sum(map(len, self._variants.values()))

    def __contains__(self, key: str) -> bool:
        return key in self._variants

    def variants(self, key: str) -> Sequence[Record]:
        """The records of one content, under whatever schema."""
        return self._variants.get(key, ())

    def find(self, key: str, is_valid: Callable[[Record], bool]) -> Record | None:
        """The first record of the content that is valid now."""
        self._touched.add(key)
        return next((r for r in self._variants.get(key, ()) if is_valid(r)), None)

    def add(self, key: str, record: Record) -> None:
        """Keeps a record; the oldest variant of the same content may go."""
        self._touched.add(key)
        self._is_dirty = True
        others = [r for r in self._variants.get(key, ()) if r.reads != record.reads]
        self._variants[key] = [record, *others][:MAX_VARIANTS]

    def save(self) -> bool:
        """Writes the file, whole or not at all. False: nothing to write, or no way to."""
        if self._path is None or not self._is_dirty:
            return False
        try:
            write_whole(self._path, _file_of(self._kept(), self._engine))
        except OSError:
            return False
        self._is_dirty = False
        return True

    def _kept(self) -> list[tuple[str, int, Sequence[Record]]]:
        aged = sorted((self._age(key), key) for key in self._variants)
        kept: list[tuple[str, int, Sequence[Record]]] = []
        size = 0
        for age, key in aged:
            size += sum(len(record.packed) for record in self._variants[key])
            if age > MAX_UNUSED_RUNS or size > MAX_BYTES:
                break
            kept.append((key, age, self._variants[key]))
        return kept

    def _age(self, key: str) -> int:
        return 0 if key in self._touched else self._unused.get(key, 0) + 1


def _file_of(entries: Iterable[tuple[str, int, Sequence[Record]]], engine: str) -> list[bytes]:
    index: list[Any] = []
    blobs: list[bytes] = []
    for key, age, records in entries:
        index.append([key, age, [_record_row(record) for record in records]])
        blobs.extend(bytes(record.packed) for record in records)
    index_bytes = fast_json.dumps(index)
    blob = b"".join(blobs)
    head = {
        "format": FORMAT,
        "engine": engine,
        "index": len(index_bytes),
        "blob": len(blob),
        "crc": zlib.crc32(blob, zlib.crc32(index_bytes)),
    }
    return [fast_json.dumps(head) + b"\n", index_bytes, blob]


def _read(data: bytes, engine: str) -> tuple[dict[str, list[Record]], dict[str, int]]:
    start = data.index(b"\n", 0, 1000) + 1
    head = fast_json.loads(data[:start])
    if head["format"] != FORMAT or head["engine"] != engine:
        return {}, {}
    body = memoryview(data)[start:]
    split = head["index"]
    if len(body) != split + head["blob"] or zlib.crc32(body) != head["crc"]:
        raise ValueError("the file was cut or changed")
    blob = body[split:]
    variants: dict[str, list[Record]] = {}
    unused: dict[str, int] = {}
    position = 0
    for key, age, rows in fast_json.loads(body[:split]):
        records = []
        for row in rows:
            size = int(row[-1])
            records.append(_record(row, blob[position : position + size]))
            position += size
        variants[str(key)] = records
        unused[str(key)] = int(age)
    return variants, unused


def _record_row(record: Record) -> list[Any]:
    return [
        record.state.value,
        record.reason and record.reason.value,
        record.detail,
        record.operation,
        record.fingerprint,
        record.counts,
        record.inputs,
        [[read.parts, read.key, read.digest] for read in record.reads],
        record.names,
        record.used,
        record.schema,
        record.schema_digest,
        record.learned,
        record.is_complete,
        record.notes,
        len(record.packed),
    ]


def _record(row: list[Any], packed: memoryview) -> Record:
    state, reason, detail, operation, fingerprint, counts, inputs, reads = row[:8]
    names, used, schema, schema_digest, learned, is_complete, notes, _ = row[8:]
    known, partial, unknown = counts
    return Record(
        state=_STATES[state],
        reason=_REASONS[reason],
        detail=detail,
        operation=str(operation),
        fingerprint=str(fingerprint),
        counts=(int(known), int(partial), int(unknown)),
        inputs=tuple(inputs),
        reads=tuple(Read(tuple(parts), key, digest) for parts, key, digest in reads),
        names=str(names),
        used=tuple((node, tuple(columns)) for node, columns in used),
        schema=str(schema),
        schema_digest=str(schema_digest),
        learned=str(learned),
        is_complete=bool(is_complete),
        notes=tuple((kind, message) for kind, message in notes),
        packed=packed,
    )


_STATES = {state.value: state for state in State}
_REASONS: dict[str | None, Reason | None] = {None: None, **{r.value: r for r in Reason}}


def installed(*packages: str) -> str:
    """A hash of the state of the modules of these packages of ours. An installation that is worked
    on must not be served what its code of an hour ago found."""
    files = sorted(path for name in packages for path in (HERE / name).glob("*.py"))
    states = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(states).encode()).hexdigest()[:16]


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Writes a file, its folder too: whole or, with an OSError, not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
