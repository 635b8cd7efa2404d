"""One exposure per column that a project cares about, so that dbt draws and selects its lineage.

Its ``depends_on`` are exactly the nodes that feed the column's value or decide its rows, through
all models: ``dbt build --select 1+exposure:<name>`` builds just what feeds that column.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lineage_post.artifacts.decoration import EXPOSURES_PATH
from lineage_post.publish import markdown, words
from lineage_post.publish.exposures_text import Describer
from lineage_post.vocabulary import ExposureMode

if TYPE_CHECKING:
    from lineage_post.artifacts import Node
    from lineage_post.lineage import Lineage
    from lineage_post.options import Options

GENERATED_PATH = EXPOSURES_PATH
TAG = "lineage_post"
TYPES = ("analysis", "application", "dashboard", "ml", "notebook")
_DEPENDS_ON = frozenset({"model", "seed", "snapshot", "source"})
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]+")
_WEB_ADDRESS = re.compile(r"(https?://|mailto:)[^\s<>{}\"'`]+", re.IGNORECASE)
_EMAIL = re.compile(r"[^@\s<>]+@[^@\s<>]+")


@dataclass(frozen=True, slots=True)
class ExposureSpec:
    """An exposure of one column; every string is safe to show and to be read as Jinja by dbt.

    ``depends_on`` are unique_ids, sorted. ``label`` has no brace and no angle bracket.
    """

    name: str
    label: str
    type: str
    description: str
    depends_on: tuple[str, ...]
    owner_name: str | None
    owner_email: str | None
    url: str | None = None
    tags: tuple[str, ...] = (TAG,)
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExposureSet:
    """The exposures that fit under the limit, and how many did not."""

    specs: tuple[ExposureSpec, ...]
    left_out: int = 0

    @property
    def warning(self) -> str | None:
        """What to tell the user when some were left out."""
        if not self.left_out:
            return None
        columns = "1 column" if self.left_out == 1 else f"{self.left_out} columns"
        return (
            f"{columns} got no exposure: the limit is {len(self.specs)}. Raise "
            "exposures_limit in the lineage_post vars, or mark fewer columns."
        )


def exposures_for(lineage: Lineage, options: Options | None = None) -> list[ExposureSpec]:
    """The exposures of the columns that ``options.exposures`` picks, by name."""
    return list(exposure_set(lineage, options).specs)


def exposure_set(lineage: Lineage, options: Options | None = None) -> ExposureSet:
    """As exposures_for, with the number of columns that ``exposures_limit`` left out."""
    options = options or lineage.options
    picked = sorted(_picked(lineage, options), key=lambda pair: (pair[0].name, pair[1]))
    names = _names(picked)
    kept = picked[: options.exposures_limit]
    describer = Describer(lineage, expressions=options.expressions)
    specs = [_spec(node, column, names[node.unique_id, column], describer) for node, column in kept]
    return ExposureSet(tuple(sorted(specs, key=lambda s: s.name)), len(picked) - len(kept))


def is_generated(entry: Mapping[str, Any]) -> bool:
    """Whether an exposure of ``manifest.json`` was put there by this module, not by YAML."""
    return entry.get("original_file_path") == GENERATED_PATH


def manifest_entry(spec: ExposureSpec, project_name: str) -> dict[str, Any]:
    """The exposure in the form of ``manifest.json``, which dbt can load."""
    return {
        "name": spec.name,
        "resource_type": "exposure",
        "package_name": project_name,
        "path": GENERATED_PATH,
        "original_file_path": GENERATED_PATH,
        "unique_id": f"exposure.{project_name}.{spec.name}",
        "fqn": [project_name, spec.name],
        "type": spec.type,
        "owner": {"email": spec.owner_email, "name": spec.owner_name},
        "description": spec.description,
        "label": spec.label,
        "maturity": None,
        "meta": dict(spec.meta),
        "tags": list(spec.tags),
        "config": {"enabled": True, "tags": list(spec.tags), "meta": dict(spec.meta)},
        "unrendered_config": {},
        "url": spec.url,
        "depends_on": {"macros": [], "nodes": list(spec.depends_on)},
        "refs": [],
        "sources": [],
        "metrics": [],
        "created_at": 0.0,
    }


def _picked(lineage: Lineage, options: Options) -> Iterator[tuple[Node, str]]:
    """The (node, column) pairs that the option picks, spelled as the lineage spells them."""
    if options.exposures is ExposureMode.NONE:
        return
    read = _read_by_models(lineage)
    for unique_id, traced in lineage.nodes.items():
        node = lineage.project.nodes.get(unique_id)
        if node is None or not lineage.is_published(unique_id):
            continue
        names = {c.name.lower(): c.name for c in traced.columns if c.name and c.is_column}
        if options.exposures is ExposureMode.MARKED:
            marked = [c.name for c in node.columns if _settings(c.meta).get("expose") is True]
            yield from ((node, names.get(name.lower(), name)) for name in marked)
        elif _is_picked_whole(node, options.exposures, read):
            yield from ((node, name) for name in names.values())


def _is_picked_whole(node: Node, mode: ExposureMode, read: frozenset[str]) -> bool:
    """Whether every column of the node is picked: a public one, or one that no model reads."""
    if node.resource_type not in ("model", "snapshot"):
        return False
    return node.access == "public" if mode is ExposureMode.PUBLIC else node.unique_id not in read


def _read_by_models(lineage: Lineage) -> frozenset[str]:
    nodes = lineage.project.nodes.values()
    readers = [node for node in nodes if node.resource_type in ("model", "snapshot")]
    return frozenset(parent for reader in readers for parent in reader.depends_on)


def _settings(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    found = meta.get("lineage")
    return found if isinstance(found, Mapping) else {}


def _names(columns: Sequence[tuple[Node, str]]) -> dict[tuple[str, str], str]:
    """A name for each column; where two would be the same, or letters got lost, a hash is added."""
    plain = {(node.unique_id, name): _plain_name(node, name) for node, name in columns}
    shared = Counter(plain.values())
    named = {}
    for (unique_id, column), name in plain.items():
        lossless = not _NOT_IN_NAMES.search(column) and len(name) <= 120
        if shared[name] > 1 or not lossless:
            digest = hashlib.sha256(f"{unique_id}\0{column}".encode()).hexdigest()[:8]
            name = f"{name[:120]}_{digest}"
        named[unique_id, column] = name
    return named


def _plain_name(node: Node, column: str) -> str:
    version = "" if node.version is None else f"_v{node.version}"
    return _NOT_IN_NAMES.sub("_", f"lineage_{node.name}{version}__{column}")


def _spec(node: Node, column: str, name: str, describer: Describer) -> ExposureSpec:
    lineage = describer.lineage
    declared = next((c for c in node.columns if c.name.lower() == column.lower()), None)
    settings = _settings(declared.meta) if declared else {}
    owner_name, owner_email = _owner(settings.get("owner") or node.owner, lineage.project.name)
    kind = settings.get("type")
    shown = f"{words.label(lineage.project, node.unique_id)}.{column}"
    feeding = _feeding(lineage, node.unique_id, column)
    return ExposureSpec(
        name=name,
        label=plain(str(settings.get("label") or shown)),
        type=kind if kind in TYPES else "analysis",
        description=describer.text(node.unique_id, column, nodes=len(feeding)),
        depends_on=feeding,
        owner_name=owner_name,
        owner_email=owner_email,
        url=_web_address(settings.get("url")),
        meta={"node": node.unique_id, "column": column},
    )


def plain(value: str) -> str:
    """A label that is text to Jinja and to the docs site's search box, which shows it as HTML."""
    shown = markdown.visible(value).replace("<", "‹").replace(">", "›")
    return re.sub(r"\{(?=[{%#])|(?<=[}%#])(?=\})", lambda m: m[0] + " ", shown)


def _web_address(value: object) -> str | None:
    return value if isinstance(value, str) and _WEB_ADDRESS.fullmatch(value) else None


def _owner(owner: object, project_name: str) -> tuple[str | None, str | None]:
    """A name, an e-mail address or ``Name <address>``; the project's name where nobody is named."""
    if isinstance(owner, Mapping):
        name, email = owner.get("name"), owner.get("email")
        owner = f"{name or ''} <{email}>" if email else name
    if not isinstance(owner, str) or not owner.strip():
        return project_name, None
    found = re.search(_EMAIL, owner)
    name = re.sub(r"<[^<>]*>", "", owner).strip() if found else owner.strip()
    email = found[0] if found else None
    return (plain(name) if name and name != email else None), email and plain(email)


def _feeding(lineage: Lineage, node: str, column: str) -> tuple[str, ...]:
    nodes = lineage.project.nodes
    feeding = {node}
    if column in lineage.graph.columns(node):
        feeding |= lineage.graph.feeding_nodes(node, column)
    return tuple(sorted(n for n in feeding if n in nodes and nodes[n].resource_type in _DEPENDS_ON))
