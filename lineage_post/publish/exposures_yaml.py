"""The exposures as a YAML file of the user's project, for those who want them in version control.

dbt reads every string of it as Jinja, and fails on a ref whose model is gone. So a string with a
brace pair is written as a Jinja string literal, a dependency is asked for before it is named, and
one var turns the whole file off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import yaml

from lineage_post.publish.exposures import ExposureSpec

if TYPE_CHECKING:
    from pathlib import Path

    from lineage_post.artifacts import Node, Project

HEADER = """\
# Written by `lineage-post exposures --write`, which replaces the whole file: do not edit it.
# A model that is gone is left out by itself. To turn every exposure below off, for instance while
# a source is being renamed: dbt build --vars 'lineage_post_exposures: false'
"""
ENABLED = "{{ var('lineage_post_exposures', true) }}"
_JINJA = re.compile(r"\{[{%#]")
_LITERAL = re.compile(r"[^A-Za-z0-9 _.,;:()=+*/<>|-]")


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def exposures_yaml(specs: Sequence[ExposureSpec], project: Project) -> str:
    """The file's text; the same exposures give the same bytes."""
    document = {"version": 2, "exposures": [_entry(spec, project) for spec in specs]}
    body = yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000, indent=2
    )
    return HEADER + body


def is_ours(path: Path) -> bool:
    """Whether the file was written by this module, and so may be replaced."""
    first = HEADER.splitlines()[0]
    return path.is_file() and path.read_text(encoding="utf-8").startswith(first)


def jinja_literal(text: str) -> str:
    """The text in a form that dbt's Jinja renders back into it."""
    if not _JINJA.search(text):
        return text
    escaped = _LITERAL.sub(lambda m: _escape(ord(m[0])), text)
    return "{{ '" + escaped + "' }}"


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _entry(spec: ExposureSpec, project: Project) -> dict[str, Any]:
    owner = {"name": spec.owner_name, "email": spec.owner_email}
    entry: dict[str, Any] = {
        "name": spec.name,
        "label": spec.label,
        "type": spec.type,
        "owner": {key: value for key, value in owner.items() if value},
        "url": spec.url,
        "description": spec.description,
        "depends_on": [_dependency(project.nodes[u], project) for u in spec.depends_on],
        "config": {"enabled": ENABLED, "tags": list(spec.tags), "meta": _guarded(spec.meta)},
    }
    return {key: value for key, value in entry.items() if value is not None}


def _guarded(value: Any) -> Any:
    if isinstance(value, str):
        return jinja_literal(value)
    if isinstance(value, dict):
        return {key: _guarded(item) for key, item in value.items()}
    return value


def _dependency(node: Node, project: Project) -> str:
    """``ref('fct_orders')``, asked only where dbt parsed such a model.

    The names that dbt gives to this expression are its resolvers, which carry the manifest.
    """
    if node.resource_type == "source":
        return f"source('{node.unique_id.split('.')[2]}', '{node.name}')"
    arguments = [] if node.package_name == project.name else [f"'{node.package_name}'"]
    arguments.append(f"'{node.name}'")
    if node.version is not None:
        arguments.append(f"v='{node.version}'")
    reference = f"ref({', '.join(arguments)})"
    known = " or ".join(f"'{name}' in ref.manifest.nodes" for name in _names_while_parsing(node))
    return f"{reference} if ref.manifest is not defined or {known} else ''" if known else reference


def _names_while_parsing(node: Node) -> list[str]:
    """The unique_ids that dbt may know the node by when it reads the file of exposures.

    None for what YAML declares, in no certain order with this file: sources, newer snapshots. A
    versioned model goes by its file's name until its own YAML was read.
    """
    path = PurePosixPath(node.path)
    if path.suffix in (".yml", ".yaml"):
        return []
    by_file = f"{node.resource_type}.{node.package_name}.{path.stem}"
    return sorted({node.unique_id, by_file}) if node.version is not None else [node.unique_id]
