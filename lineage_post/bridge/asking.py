"""``dbt run-operation lineage_post.why``: asked on dbt's own connection, which is only read."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from lineage_post.artifacts import Node, Project, project_from_manifest
from lineage_post.bridge.compiling import InProcessCompiler
from lineage_post.bridge.say import describe, detail
from lineage_post.errors import OptionError, SelectionError

if TYPE_CHECKING:
    from lineage_post.bridge.bridge import Bridge
    from lineage_post.provenance.settings import Settings

FLAGS = ("how", "where_cells", "as_of_now", "counts_only", "everything")
NUMBERS = ("limit", "sample", "timeout")
#: What has SQL to compile.
COMPILED = ("model", "snapshot")
#: What has rows; of those without SQL the answer says why none can be explained.
ASKED = (*COMPILED, "seed", "source")
KNOWN = ("depth", "output", *FLAGS, *NUMBERS)


@dataclass(frozen=True)
class Answered:
    """What the macro logs, and the one line it then fails with."""

    text: str = ""
    error: str | None = None


def why(bridge: Bridge, model: str, where: str, arguments: Mapping[str, Any]) -> Answered:
    """The answer in words, as JSON or as SQL. Never raises."""
    try:
        return _why(bridge, str(model), str(where), dict(arguments))
    except Exception as error:
        import traceback

        detail("".join(traceback.format_exception(error)))
        return Answered(error=f"lineage_post: {describe(error)}")


def _why(bridge: Bridge, model: str, where: str, arguments: dict[str, Any]) -> Answered:
    from lineage_post.lineage import trace_project
    from lineage_post.options import Options
    from lineage_post.provenance.answer import Label
    from lineage_post.provenance.connection import Adapter
    from lineage_post.provenance.report import lines
    from lineage_post.provenance.statement import why_sql
    from lineage_post.provenance.walk import Walker
    from lineage_post.trace.dialects import dialect_of

    settings = _settings(arguments)
    project = project_from_manifest(bridge.manifest)
    node = node_named(project, model)
    wanted = _above(project, node.unique_id)
    compiler = InProcessCompiler(bridge.manifest, bridge.adapter.config, plain=False)
    compiler.manifest.nodes.update(_in_full(compiler.manifest, wanted))
    models = [n for n in sorted(wanted) if project.nodes[n].resource_type in COMPILED]
    project = compiler.compile(project, models)
    lineage = trace_project(project, options=Options(processes=1), only=wanted)
    lineage = replace(lineage, project=project)
    dialect = dialect_of(project.adapter_type)
    if arguments.get("output") == "sql":
        return Answered(why_sql(lineage, node.unique_id, where, dialect))
    timeout = float(arguments.get("timeout") or 60)
    connection = Adapter(_reader(bridge.adapter, project.adapter_type, timeout), dialect)
    answers = Walker(lineage, connection, settings).why(node.unique_id, where)
    if arguments.get("output") == "json":
        metadata = {"model": node.unique_id, "where": where}
        document = {"metadata": metadata, "rows": [a.to_dict() for a in answers]}
        text = json.dumps(document, indent=2)
    else:
        called = lines(answers, lambda name: _called(project, name), sample=settings.sample)
        text = "\n".join(called)
    if not answers:
        return Answered(text, f"lineage_post: No row of {model} matches {where}.")
    if all(answer.label is Label.REFUSED for answer in answers):
        return Answered(text, f"lineage_post: {model} is refused: {answers[0].refusal}")
    return Answered(text)


def _settings(arguments: Mapping[str, Any]) -> Settings:
    from lineage_post.provenance.settings import MANY, Settings

    unknown = sorted(set(arguments) - set(KNOWN))
    if unknown:
        raise OptionError(f"why has no argument {unknown[0]!r}", hint=f"It has {', '.join(KNOWN)}.")
    depth = arguments.get("depth", 1)
    flags = {name: arguments.get(name) is True for name in FLAGS}
    return Settings(
        depth=None if depth == "sources" else int(depth),
        how=flags["how"],
        cells=flags["where_cells"],
        counts_only=flags["counts_only"],
        as_of_now=flags["as_of_now"],
        limit=int(arguments.get("limit") or 20),
        sample=int(arguments.get("sample") or 20),
        most=None if flags["everything"] else MANY,
    )


def node_named(project: Project, model: str) -> Node:
    """The node that is asked about. Raises LineageError where it is none or may be several."""
    from lineage_post.provenance.refusal import whole_rows

    nodes = [node for node in project.nodes.values() if node.resource_type in ASKED]
    found = _named(nodes, model)
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(sorted(node.unique_id for node in found))
        raise SelectionError(f"{model!r} may be any of {ids}", hint="Name one of these.")
    owner = _named(nodes, model.rpartition(".")[0])
    if len(owner) == 1:
        raise whole_rows(model, owner[0].label_or_name)
    near = ", ".join(get_close_matches(model, sorted({node.name for node in nodes}), n=3))
    hint = f"Did you mean {near}?" if near else "Name it as ref() does, or by its unique_id."
    raise SelectionError(f"there is no model {model!r}", hint=hint)


def _named(nodes: Sequence[Node], name: str) -> list[Node]:
    """The nodes of that name or id, models first. Of a versioned model ``orders`` is the latest
    version, ``orders.v1`` that one."""
    found = [node for node in nodes if name in _names_of(node)]
    latest = [node for node in found if node.version is None or node.is_latest_version] or found
    return [node for node in latest if node.resource_type in COMPILED] or latest


def _names_of(node: Node) -> tuple[str, ...]:
    version = () if node.version is None else (f"{node.name}.v{node.version}",)
    return (node.name, node.unique_id, *version)


def _above(project: Project, unique_id: str) -> set[str]:
    found: set[str] = set()
    pending = [unique_id]
    while pending:
        name = pending.pop()
        if name not in found and name in project.nodes:
            found.add(name)
            pending.extend(project.nodes[name].depends_on)
    return found


def _in_full(manifest: Any, wanted: set[str]) -> dict[str, Any]:
    """Incremental models that compile as for a full refresh: to all their rows."""
    found: dict[str, Any] = {}
    for unique_id in wanted & manifest.nodes.keys():
        node = manifest.nodes[unique_id]
        if getattr(node.config, "materialized", None) == "incremental":
            fresh = copy.deepcopy(node)
            fresh.config.full_refresh = True
            found[unique_id] = fresh
    return found


def _reader(adapter: Any, adapter_type: str, timeout: float) -> Callable[[str], Any]:
    """Runs one SELECT on dbt's connection; none takes longer than ``timeout`` seconds."""
    from lineage_post.bridge.profile import rows_of

    if adapter_type in ("postgres", "redshift"):
        limit = f"set statement_timeout = {int(timeout * 1000)}"

        def limited(sql: str) -> Any:
            adapter.execute(limit)
            try:
                return rows_of(adapter, sql)
            finally:
                # A query that was ended leaves a transaction that dbt did not open.
                adapter.connections.rollback_if_open()
                adapter.connections.get_thread_connection().handle.rollback()
                adapter.execute("reset statement_timeout")

        return limited

    def timed(sql: str) -> Any:
        connection = adapter.connections.get_thread_connection()
        timer = threading.Timer(timeout, _stop, (adapter, connection))
        timer.start()
        try:
            return rows_of(adapter, sql)
        finally:
            timer.cancel()

    return timed


def _stop(adapter: Any, connection: Any) -> None:
    """End what a connection is running, from another thread."""
    interrupt = getattr(connection.handle.cursor(), "interrupt", None)
    if connection.type == "duckdb" and interrupt is not None:
        interrupt()
    else:
        adapter.connections.cancel(connection)


def _called(project: Project, unique_id: str) -> str:
    node = project.nodes.get(unique_id)
    return node.label_or_name if node is not None else unique_id
