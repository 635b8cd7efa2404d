"""What the tests of the warehouse's memory share: claims, questions, answers."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from lineage_post.artifacts import project_from_manifest_dict
from lineage_post.history.claims import Claim, Claims
from lineage_post.publish.claims import write_claims
from lineage_post.values import ColumnLineage, Edge
from lineage_post.vocabulary import State, Subtype
from tests.dbt.dbt_project import DbtProject, Result

FCT = "model.shop.fct_customers"
LOG = "model.shop.order_log"
REPORT = "select revenue * as doubled from {{ ref('fct_customers') }}"
LONG_AGO = datetime(2026, 1, 1, 12, 0)


def claim(target: str, source: tuple[str, str], column: str, **settings: Any) -> Claim:
    """A claim of one edge."""
    settings.setdefault("run_id", "q1")
    settings.setdefault("observed_at", LONG_AGO)
    return Claim(
        target,
        columns=(ColumnLineage(1, column, None, State.KNOWN, None),),
        edges=(Edge(*source, None, target, column, Subtype.TRANSFORMATION),),
        **settings,
    )


def load(project: DbtProject, *claims: Claim, name: str = "logs", complete: bool = False) -> Result:
    """Imports claims as an importer does: files, then dbt."""
    known = project_from_manifest_dict(project.manifest())
    folder = write_claims(Claims(name, claims, complete), project.target, known)
    arguments = json.dumps({"directory": str(folder)})
    result = project.dbt("run-operation", "lineage_post.load", "--args", arguments)
    assert result.code == 0, result.lines
    return result


def rows(project: DbtProject, macro: str, columns: str) -> list[tuple[Any, ...]]:
    """Rows of one of the package's queries, asked as a user's own model would."""
    text = f"{{{{ config(materialized='table') }}}}\nselect {columns} from ({{{{ {macro} }}}}) as q"
    project.write("models/asked.sql", text)
    result = project.dbt("run", "--select", "asked")
    assert result.code == 0, result.lines
    project.remove("models/asked.sql")
    return sorted(project.query(f"select * from {project.schema}.asked"), key=repr)


def edges_to(project: DbtProject, node: str, **times: str) -> set[tuple[str, str]]:
    given = ", ".join(f"{k}='{v}'" for k, v in times.items())
    found = rows(
        project, f"lineage_post.column_edges_as_of({given})", "to_node, from_column, to_column"
    )
    return {(a, b) for n, a, b in found if n == node and b}


def cli(project: DbtProject, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The JSON that a command answers with."""
    from lineage_post.cli import run

    project.database.release()
    capsys.readouterr()
    code = run([*arguments, "--output", "json", "--project-dir", str(project.folder)])
    streams = capsys.readouterr()
    assert code in (0, 1), streams.err
    return json.loads(streams.out)
