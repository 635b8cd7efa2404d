"""Where a source's data really are: the hop below the relation, and never a credential.

    {"kind": "external_location", "location": "s3://lake/orders/*.parquet", "format": "parquet",
     "loader": "airbyte", "served": "virtual",
     "freshness": {"loaded_at_field": "loaded_at", "warn_after": "12 hour"}}

``kind`` is ``external_location`` (an ``external:`` block), ``file``, ``glob``, ``scan`` (a table
function that reads something else) or ``table``. ``served`` is ``virtual`` where each query reads
the location itself, ``replica`` where something copies it in, and left out where nobody says.
"""

from __future__ import annotations

import re
from typing import Any

from lineage_post.artifacts.access import mapping, take, text, texts

#: What stands in the place of a credential.
GONE = "***"

_USER = re.compile(r"(?P<scheme>[a-z][\w+.-]*://)(?P<user>[^/@\s'\"]*)@", re.IGNORECASE)
#: In these the part before the @ is a container, unless it has a password.
_CONTAINERS = ("abfs", "abfss", "wasb", "wasbs", "adl")
_QUERY = re.compile(r"[?#][^\s'\"=&?#/*]*=[^\s'\"]*")
_WEB_QUERY = re.compile(r"(https?://[^\s'\"?#]*)[?#][^\s'\"]*", re.IGNORECASE)
_KEY = re.compile(
    r"(?P<key>[\w.-]*(?:passw(?:or)?d|pwd|passphrase|secret|token|credential|api_?key|"
    r"access_?key|account_?key|private_?key|shared_?access|signature|\bsig|sas)[\w.-]*)"
    r"(?P<sep>['\"]?\s*(?:=>|:=|=|:)\s*)(?:'(?:[^']|'')*'|\"[^\"]*\"|[^\s;,&)'\"]+)",
    re.IGNORECASE,
)
_CALL = re.compile(r"\s*(?P<function>\w+)\s*\(")
_LITERAL = re.compile(r"'((?:[^']|'')*)'")
_GLOB = re.compile(r"[*?\[\]{}]")
#: Table functions of files; others scan something else, such as another database.
_FILES = re.compile(r"(?i)(?:read_|parquet_scan|csv_scan|json_scan|iceberg_scan|delta_scan|glob$)")


def without_credentials(location: str) -> str:
    """A path, URL or connection string without user, password, keys, tokens and signatures.

    >>> without_credentials("https://me:secret@host/a.csv?sig=abc")
    'https://host/a.csv'
    """
    found = _USER.sub(_without_user, location)
    found = _WEB_QUERY.sub(r"\1", found)
    found = _QUERY.sub("", found)
    return _KEY.sub(rf"\g<key>\g<sep>{GONE}", found)


def _without_user(found: re.Match[str]) -> str:
    scheme = found["scheme"]
    is_container = scheme[:-3].lower() in _CONTAINERS and ":" not in found["user"]
    return found[0] if is_container else scheme


def native_of_source(resource: Any, meta: dict[str, Any]) -> dict[str, Any]:
    """The native hop of a source; ``meta`` is its own, from wherever YAML has it."""
    found = _location(resource, meta)
    loader = text(take(resource, "loader"))
    declared = mapping(meta.get("lineage")).get("served")
    served = str(declared) if declared in ("virtual", "replica") else found.pop("served", None)
    if served is None and loader and found["kind"] == "table":
        served = "replica"
    found.pop("served", None)
    more = {"loader": loader, "served": served, "freshness": freshness_of(resource)}
    return {**found, **{key: value for key, value in more.items() if value}}


def native_of_file(path: str) -> dict[str, Any]:
    """The native hop of a seed, or of a model that is written to a file."""
    location = without_credentials(path)
    return {"kind": "file", "location": location} if location else {}


def freshness_of(resource: Any) -> dict[str, str]:
    """How fresh a source is to be, and the column that tells; dbt 1.10 moved it into config."""
    config = take(resource, "config") or {}
    freshness = take(config, "freshness") or take(resource, "freshness") or {}
    found = {
        "loaded_at_field": _either(resource, config, "loaded_at_field"),
        "loaded_at_query": _either(resource, config, "loaded_at_query"),
        "filter": text(take(freshness, "filter")),
        "warn_after": _threshold(take(freshness, "warn_after")),
        "error_after": _threshold(take(freshness, "error_after")),
    }
    return {key: value for key, value in found.items() if value}


def _either(resource: Any, config: Any, key: str) -> str | None:
    return text(take(config, key)) or text(take(resource, key))


def _threshold(value: Any) -> str | None:
    count, period = take(value, "count"), text(take(value, "period"))
    return f"{count} {period}" if count is not None and period else None


def _location(resource: Any, meta: dict[str, Any]) -> dict[str, Any]:
    external = take(resource, "external")
    if external and text(take(external, "location")):
        return _external(external)
    # dbt-duckdb puts what it reads in the place of the relation's name.
    rendered = text(take(resource, "relation_name")) or ""
    config = take(resource, "config") or {}
    named = text(meta.get("external_location") or take(config, "external_location"))
    if rendered.startswith("'") or _CALL.match(rendered):
        return _read_in_place(rendered)
    if named:
        return _read_in_place(named)
    parts = (take(resource, key) for key in ("database", "schema"))
    identifier = text(take(resource, "identifier")) or text(take(resource, "name"))
    return {"kind": "table", "location": ".".join(str(p) for p in (*parts, identifier) if p)}


def _external(external: Any) -> dict[str, Any]:
    partitions = take(external, "partitions") or ()
    has_pipe = bool(take(external, "snowpipe"))
    found = {
        "kind": "external_location",
        "location": without_credentials(str(take(external, "location"))),
        "format": text(take(external, "file_format")),
        "partitions": list(filter(None, (text(take(p, "name")) for p in partitions))),
        "served": "replica" if has_pipe else "virtual",
    }
    return {key: value for key, value in found.items() if value}


def _read_in_place(written: str) -> dict[str, Any]:
    call = _CALL.match(written)
    literals = [found.replace("''", "'") for found in _LITERAL.findall(written)]
    locations = [without_credentials(found) for found in literals] or [
        without_credentials(written.strip("'"))
    ]
    if call is not None and not _FILES.match(call["function"]):
        # What is scanned stands in arguments whose meaning is the function's own.
        return {"kind": "scan", "location": call["function"], "served": "virtual"}
    paths = _paths(written, locations) if call is not None else locations
    kind = "glob" if any(_GLOB.search(path) for path in paths) else "file"
    return {"kind": kind, "location": ", ".join(paths), "served": "virtual"}


def _paths(written: str, locations: list[str]) -> list[str]:
    """The files of ``read_csv('a.csv', delim=';')`` or ``read_csv(['a.csv', 'b.csv'])``."""
    is_list = "[" in written.partition("(")[2].lstrip()[:1]
    count = len(_LITERAL.findall(written.partition("]")[0])) if is_list else 1
    return list(texts(locations[: max(count, 1)]))
