"""JSON documents: what the command line prints and the files under ``target/lineage_post/``.

Every document has ``metadata`` with the manifest it is of, the tool's version and the options, so
that a stale one is seen. The rest of a document depends on its inputs alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import Any

from lineage_post import __version__
from lineage_post.artifacts import Node, Project
from lineage_post.fast_json import dumps_text, loads
from lineage_post.lineage import Edge, Lineage
from lineage_post.lineage.modes import BOTH, mode_of
from lineage_post.options import Options
from lineage_post.publish.text_file import write_parts
from lineage_post.vocabulary import Reason

LINEAGE_FILE = "lineage.json"
#: Options that change what is found or published; the others only change how.
_DECISIVE = (
    "dialect",
    "exposures",
    "exposures_limit",
    "expressions",
    "exclude_packages",
    "masking_functions",
    "commands",
)


def metadata_of(
    project: Project | None, options: Options, *, generated_at: datetime | None = None
) -> dict[str, Any]:
    """What a document is of. Nothing from the environment or the invocation's arguments (SE-05)."""
    now = (generated_at or datetime.now(timezone.utc)).astimezone(timezone.utc)
    return {
        "tool": "lineage_post",
        "tool_version": __version__,
        "generated_at": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "invocation_id": project and project.invocation_id,
        "manifest_generated_at": project and project.generated_at,
        "dbt_version": project and project.dbt_version,
        "project_name": project and project.name,
        "adapter_type": project and project.adapter_type,
        "options": {name: _plain(value) for name, value in asdict(options).items()},
    }


def document(
    lineage: Lineage, options: Options, *, whole: Lineage | None = None, **more: Any
) -> dict[str, Any]:
    """The lineage of a project as one document; its keys are in docs/json.md.

    ``whole`` is what ``lineage`` was selected from.
    """
    metadata = metadata_of(lineage.project, options)
    metadata["lineage_digest"] = digest_of(whole or lineage)
    content = {**lineage.to_dict(), "metadata": metadata, **more}
    nodes = lineage.project.nodes
    for entry in content["nodes"]:
        node = nodes.get(entry["unique_id"])
        entry["checksum"] = node and _checksum(node)
        entry["native"] = dict(node.native) if node and node.native else None
        entry["build_mode"] = mode_of(lineage, entry["unique_id"])
        if entry["unique_id"] in lineage.modes:
            _mark_modes(lineage, entry)
    return content


def _checksum(node: Node) -> str | None:
    """SHA-256 of the raw SQL; of a seed what dbt has of its file. What dbt has of a file of SQL
    depends on its version, and does not tell texts apart that differ in white space alone."""
    if not node.raw_code:
        return node.checksum
    return hashlib.sha256(node.raw_code.encode("utf-8", "surrogatepass")).hexdigest()


def _mark_modes(lineage: Lineage, entry: dict[str, Any]) -> None:
    """Says of each edge of an incremental model which builds have it: ``both`` for most."""
    unique_id = entry["unique_id"]
    marks = lineage.modes[unique_id]
    for edge, told in zip(lineage.nodes[unique_id].edges, entry["edges"], strict=True):
        told["build_mode"] = marks.get(edge, BOTH)


def digest_of(lineage: Lineage) -> str:
    """The SHA-256 of all that is known of the columns and edges of a project's nodes."""
    whole = hashlib.sha256()
    for unique_id in sorted(lineage.nodes):
        line = f"{unique_id} {lineage.nodes[unique_id].fingerprint}\n"
        whole.update(line.encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def edge_to_dict(edge: Edge) -> dict[str, Any]:
    """An edge as every document has it."""
    return {
        "from_node": edge.from_node,
        "from_column": edge.from_column,
        "from_field": edge.from_field,
        "to_node": edge.to_node,
        "to_column": edge.to_column,
        "type": edge.type.value,
        "subtype": edge.subtype.value,
        "masking": edge.masking,
        "certainty": edge.certainty.value,
        "expression": edge.expression,
        "ops": [{"name": op.name, "kind": op.kind.value} for op in edge.ops],
    }


def carry_over(content: dict[str, Any], earlier: Mapping[str, Any] | None) -> list[str]:
    """Keeps what an earlier document knew of nodes that are only not compiled now.

    ``dbt run -s one`` empties the compiled SQL of all others in manifest.json: a full answer must
    not be replaced by an empty one. A node is kept only if its own code is the same; it then has
    ``carried_over_from``. Returns their ids.
    """
    known = {node.get("unique_id"): node for node in (earlier or {}).get("nodes") or ()}
    carried = []
    for position, node in enumerate(content["nodes"]):
        before = known.get(node["unique_id"])
        if node["reason"] != Reason.NOT_COMPILED.value or before is None:
            continue
        if before.get("checksum") == node["checksum"] and before.get("reason") != node["reason"]:
            origin = before.get("carried_over_from") or {
                name: (earlier or {})["metadata"].get(name)
                for name in ("invocation_id", "generated_at")
            }
            content["nodes"][position] = {**before, "carried_over_from": origin}
            carried.append(node["unique_id"])
    return carried


def write_document(path: Path, content: Mapping[str, Any]) -> None:
    """Writes the file whole or not at all, so that a reader never sees half of it."""
    # A lone surrogate, which JSON may hold, has no UTF-8.
    write_parts(path, (line.encode("utf-8", "replace") for line in _lines(content)))


def _lines(content: Mapping[str, Any]) -> Iterator[str]:
    """A line for each key, and one for each node: readable, and as fast as the encoder is."""
    separator = "{\n"
    for key, value in content.items():
        if key == "nodes":
            yield f"{separator} {dumps_text(key)}: ["
            yield ",".join(f"\n  {dumps_text(node)}" for node in value)
            yield "\n ]"
        else:
            yield f"{separator} {dumps_text(key)}: {dumps_text(value)}"
        separator = ",\n"
    yield "\n}\n" if content else "{}\n"


def read_document(path: Path) -> dict[str, Any] | None:
    """An earlier document, or None where there is none that can be read."""
    try:
        content = loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def read_metadata(path: Path) -> dict[str, Any] | None:
    """The metadata of an earlier document, which stand in its second line; None without one."""
    try:
        with path.open(encoding="utf-8") as file:
            line = file.readlines(2)[-1] if file.readline() else ""
        metadata = loads("{" + line.strip().removesuffix(",") + "}").get("metadata")
    except (OSError, ValueError, IndexError, RecursionError):
        return None
    return metadata if isinstance(metadata, dict) else None


def staleness(metadata: Mapping[str, Any], lineage: Lineage, options: Options) -> str | None:
    """Why a document of this metadata does not stand for the lineage and options, or None.

    A manifest may be newer, as each dbt command writes one, and say the same.
    """
    if metadata.get("tool_version") != __version__:
        return f"it was written by version {metadata.get('tool_version')}"
    now = metadata_of(lineage.project, options)["options"]
    before = metadata.get("options") or {}
    changed = [name for name in _DECISIVE if before.get(name) != now[name]]
    if changed:
        return f"it was written with another {', '.join(changed)}"
    if metadata.get("lineage_digest") != digest_of(lineage):
        then = metadata.get("manifest_generated_at")
        return f"the lineage has changed since the manifest of {then}"
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
