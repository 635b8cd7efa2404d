"""The evidence for one column: how its value came about, step by step, as one JSON document.

Only named fields go in: nothing of the environment, of a profile or of a run's arguments. The same
artifacts give the same document.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lineage_post import __version__
from lineage_post.artifacts import Node
from lineage_post.governance.classification import Column
from lineage_post.governance.erasure import build_order
from lineage_post.governance.run_facts import Facts, Refresh
from lineage_post.lineage import Lineage
from lineage_post.lineage.modes import compiled_mode, has_modes
from lineage_post.publish.definition import node_row
from lineage_post.publish.json import edge_to_dict
from lineage_post.vocabulary import State

FORMAT = "lineage_post evidence 1"
#: The part of a definition version that is of the compiled SQL.
_COMPILED = 1


@dataclass(frozen=True)
class Evidence:
    """Everything about ``column``: ``document`` is JSON, ``sql`` the files it points to."""

    lineage: Lineage
    column: Column
    facts: Facts

    @cached_property
    def columns(self) -> dict[str, dict[str, bool]]:
        """The columns upstream by node; true where the value comes from it."""
        found: dict[str, dict[str, bool]] = {self.column[0]: {self.column[1]: True}}
        for step in self.lineage.graph.upstream(*self.column, indirect=True):
            names = found.setdefault(step.node, {})
            if step.column is not None:
                names[step.column] = names.get(step.column, False) or step.is_value
        return found

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The nodes on the way, parents first."""
        return tuple(build_order(self.lineage, self.columns))

    @cached_property
    def sql(self) -> dict[str, str]:
        """The compiled SQL by its file in the bundle; none where the options keep SQL private."""
        if not self.lineage.options.expressions:
            return {}
        return {
            self._file(number, unique_id): code
            for number, unique_id in enumerate(self.nodes, 1)
            if (code := self._code(unique_id)) is not None
        }

    @cached_property
    def document(self) -> dict[str, Any]:
        """``subject``, ``project``, ``complete``, ``not_known``, ``steps``, ``tests``, ``runs``."""
        project = self.lineage.project
        steps = [self._step(number, node) for number, node in enumerate(self.nodes, 1)]
        unknown = [
            {"unique_id": s["unique_id"], "column": c["name"], "state": c["state"]}
            | {"reason": c["reason"]}
            for s in steps
            for c in [*s["columns"], {"name": None, "state": s["state"], "reason": s["reason"]}]
            if c["state"] != State.KNOWN.value
        ]
        return {
            "format": FORMAT,
            "tool_version": __version__,
            "subject": {"unique_id": self.column[0], "column": self.column[1]},
            "project": {
                "name": project.name,
                "adapter_type": project.adapter_type,
                "dbt_version": project.dbt_version,
                "invocation_id": project.invocation_id,
                "manifest_generated_at": project.generated_at,
            },
            "complete": not unknown,
            "not_known": unknown,
            "steps": steps,
            "tests": self._tests(),
            "runs": [
                {
                    "invocation_id": run.invocation_id,
                    "command": run.command,
                    "generated_at": run.generated_at,
                }
                for run in sorted(self.facts.runs, key=lambda r: r.generated_at or "")
            ],
        }

    def _step(self, number: int, unique_id: str) -> dict[str, Any]:
        node = self.lineage.project.nodes.get(unique_id)
        traced = self.lineage.nodes.get(unique_id)
        code = self._code(unique_id)
        row = node_row(unique_id, node)
        refresh = self.facts.refresh(unique_id)
        return {
            "number": number,
            "unique_id": unique_id,
            "resource_type": row.resource_type,
            "relation": row.relation,
            "file": node.path if node else None,
            "package": row.package,
            "materialization": row.materialization,
            "gives": "value" if any(self.columns[unique_id].values()) else "rows",
            "state": traced.state.value if traced else State.UNKNOWN.value,
            "reason": traced.reason.value if traced and traced.reason else None,
            "columns": [self._column(unique_id, c) for c in sorted(self.columns[unique_id])],
            "rows_decided_by": [
                edge_to_dict(edge) for edge in self.lineage.graph.edges_into(unique_id, None)
            ],
            "lineage_fingerprint": traced.fingerprint if traced else None,
            "definition_version": row.definition_version,
            "file_checksum": node.checksum if node else None,
            "sql_file": self._file(number, unique_id) if code and self.sql else None,
            "sql_sha256": _sha256(code) if code else None,
            "build_mode": compiled_mode(node) if node else None,
            "refresh": self._refresh(refresh, row.definition_version, node),
            "inputs": self._inputs(unique_id, refresh),
        }

    def _column(self, unique_id: str, name: str) -> dict[str, Any]:
        traced = self.lineage.nodes.get(unique_id)
        column = traced.column(name) if traced else None
        return {
            "name": name,
            "gives": "value" if self.columns[unique_id][name] else "rows",
            "data_type": column.data_type if column else None,
            "state": column.state.value if column else State.UNKNOWN.value,
            "reason": column.reason.value if column and column.reason else None,
            "expression": column.expression if column else None,
            "from": [edge_to_dict(e) for e in self.lineage.graph.edges_into(unique_id, name)],
        }

    def _refresh(
        self, refresh: Refresh | None, version: str, node: Node | None
    ) -> dict[str, Any] | None:
        """The build, and whether it ran the definition that this document shows."""
        if refresh is None:
            return None
        mode = refresh.mode_of(node)
        shown = compiled_mode(node) if node else None
        is_this_form = mode == shown if mode and shown else None
        return {
            "said_by": refresh.said_by,
            "run_id": refresh.run_id,
            "refreshed_at": refresh.refreshed_at,
            "status": refresh.status,
            "operation": refresh.operation,
            "producer": refresh.producer,
            "definition_version": refresh.definition_version,
            "git_revision": refresh.git_revision,
            "build_mode": refresh.build_mode or mode,
            "lineage_fingerprint": refresh.fingerprint,
            "is_this_definition": _is_this(refresh, version, node, is_this_form),
            "is_this_form": is_this_form,
        }

    def _inputs(self, unique_id: str, refresh: Refresh | None) -> list[dict[str, Any]]:
        """The inputs and the versions that were read; a run's own results tell only who built."""
        if refresh is not None and refresh.inputs is not None:
            return [dict(one) for one in refresh.inputs]
        traced = self.lineage.nodes.get(unique_id)
        found = []
        for name in sorted({*(traced.inputs if traced else ())} - {unique_id}):
            built = self.facts.refresh(name)
            version = built.run_id if built is not None else None
            found.append({"node": name, "version": version, "kind": "refresh" if built else None})
        return found

    def _tests(self) -> list[dict[str, Any]]:
        named = {**self.lineage.project.nodes}
        on_the_way = frozenset(self.nodes)
        tests = [n for n in named.values() if n.resource_type in ("test", "unit_test")]
        return [
            self._test(node)
            for node in sorted(tests, key=lambda n: n.unique_id)
            if on_the_way & {*node.depends_on}
        ]

    def _test(self, node: Node) -> dict[str, Any]:
        result = self.facts.test(node.unique_id)
        column = node.details.get("column")
        tested = str(node.details.get("attached_node") or next(iter(node.depends_on), ""))
        return {
            "unique_id": node.unique_id,
            "test": node.details.get("test") or node.name,
            "of": tested,
            "column": column,
            "of_a_column_on_the_way": column in self.columns.get(tested, {}) if column else None,
            "result": {
                "status": result.status,
                "failures": result.failures,
                "run_id": result.run_id,
                "executed_at": result.executed_at,
            }
            if result is not None
            else None,
        }

    def _code(self, unique_id: str) -> str | None:
        node = self.lineage.project.nodes.get(unique_id)
        return node.compiled_code if node is not None else None

    def _file(self, number: int, unique_id: str) -> str:
        name = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in unique_id)
        return f"sql/{number:03d}_{name[-100:]}.sql"


def _is_this(
    refresh: Refresh, version: str, node: Node | None, is_this_form: bool | None
) -> bool | None:
    """Whether a build ran this definition; None where what is at hand does not tell. An incremental
    model compiles to other SQL the first time than later: of another form only the model's own
    code and its settings can be compared, which a run's results do not have."""
    may_differ = is_this_form is False or (is_this_form is None and has_modes(node))
    if refresh.definition_version is not None:
        pairs = enumerate(zip(refresh.definition_version.split("."), version.split(".")))
        differing = {number for number, (one, other) in pairs if one != other}
        if differing == {_COMPILED} and may_differ:
            return True if is_this_form is False else None
        return not differing
    if refresh.compiled_code is None:
        return None
    code = node.compiled_code if node is not None else None
    is_same = refresh.compiled_code.strip() == (code or "").strip()
    return None if may_differ and not is_same else is_same


def rows_of_refreshes(rows: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row of the table with its columns in lower case, as other warehouses spell them."""
    return {str(key).lower(): value for key, value in rows.items()}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
