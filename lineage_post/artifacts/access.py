"""One way to read a value, whether it stands in parsed JSON or in one of dbt's live objects."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from lineage_post import fast_json
from lineage_post.errors import ArtifactError


def take(item: Any, *names: str) -> Any:
    """The first of ``names`` that ``item`` has a value for, else None; dbt 2 leaves None out."""
    # Asked a hundred times for every resource: parsed JSON first, and no more than it takes.
    if item.__class__ is dict:
        for name in names:
            value = item.get(name)
            if value is not None:
                return value
        return None
    for name in names:
        value = item.get(name) if isinstance(item, dict) else getattr(item, name, None)
        if value is not None:
            return value
    return None


def getter(item: Any) -> Callable[[str], Any]:
    """``take`` of one name after the other from the same item, where there are many of them."""
    if item.__class__ is dict:
        found: Callable[[str], Any] = item.get
        return found
    return lambda name: take(item, name)


def text(value: Any) -> str | None:
    """A string, or None for None and the empty string. Enums of dbt give their value."""
    if value is None or value == "":
        return None
    return value if type(value) is str else str(getattr(value, "value", value))


def texts(value: Any) -> tuple[str, ...]:
    """Strings of a list, or of the one string that stands in its place."""
    if not value:
        return ()
    if value.__class__ is list:
        return tuple(map(str, value))
    if isinstance(value, str):
        return (value,)
    return tuple(str(v) for v in value) if isinstance(value, Iterable) else ()


def mapping(value: Any) -> dict[str, Any]:
    """A plain dict, empty where ``value`` is no mapping."""
    if not value:
        return {}
    return dict(value) if isinstance(value, Mapping) else {}


def slashed(path: Any) -> str:
    """A path with ``/``, since a manifest made on Windows is read elsewhere (case PL-01)."""
    return str(path or "").replace("\\", "/")


def read_bytes(path: Path, *, what: str, hint: str) -> bytes:
    """What stands in a file. Raises ArtifactError that names the file and says ``hint``."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ArtifactError(f"{path}: there is no {what}", hint=hint) from None
    except OSError as error:
        raise ArtifactError(f"{path}: {error.strerror or error}", hint=hint) from error


def read_json(path: Path, *, what: str, hint: str) -> dict[str, Any]:
    """The JSON object in a file. Raises ArtifactError that names the file and says ``hint``."""
    return json_object(read_bytes(path, what=what, hint=hint), path, what=what, hint=hint)


def json_object(data: bytes, path: Path, *, what: str, hint: str) -> dict[str, Any]:
    """The JSON object that ``data``, the bytes of a file, hold. Raises as ``read_json`` does."""
    try:
        document = fast_json.loads(data.removeprefix(BOM_UTF8))
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{path}: not a readable {what}: {error}", hint=hint) from error
    if not isinstance(document, dict):
        raise ArtifactError(f"{path}: not a {what}", hint=hint)
    return document
