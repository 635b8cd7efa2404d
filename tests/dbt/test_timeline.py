"""One timeline of ten runs and a late import, and every answer about every moment of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, TypeAlias

import pytest

from lineage_post.bridge.recorded import RecordedTables
from lineage_post.options import Options
from tests.dbt.dbt_project import DbtProject, Result
from tests.dbt.remembered import FCT, claim, cli, load

pytestmark = pytest.mark.dbt

REPORT, RENAMED = "model.shop.report", "model.shop.renamed"
OF_FCT = "from {{ ref('fct_customers') }}"
#: Node, column it comes from, and the factor of the expression.
Answer: TypeAlias = "set[tuple[str, str, str | None]]"
#: What each run leaves to be true; the first is the build that every test starts from.
TWICE: Answer = {(REPORT, "revenue", "2")}
THRICE: Answer = {(REPORT, "revenue", "3")}
BY_ID: Answer = {(REPORT, "customer_id", None)}
AS_RENAMED: Answer = {(RENAMED, "revenue", "4")}
EDITED: Answer = {(RENAMED, "revenue", "5")}
ANOTHER: Answer = EDITED | {(REPORT, "email_hash", None)}
ANEW: Answer = EDITED | BY_ID
LATE: Answer = {(RENAMED, "amount", None)}
EXPECTED = (TWICE, THRICE, THRICE, BY_ID, BY_ID, AS_RENAMED, EDITED, ANOTHER, EDITED, ANEW)
#: The import is of a moment after this run.
IMPORTED_AFTER = 5


@dataclass
class Timeline:
    """The runs, and a moment after each of them."""

    project: DbtProject
    moments: list[datetime] = field(default_factory=list)
    runs: list[Result | None] = field(default_factory=list)

    def past(self, result: Result | None) -> None:
        self.runs.append(result)
        self.moments.append(now())

    def run(self, *arguments: str) -> None:
        self.past(self.project.dbt("run", "--select", "report", "renamed", *arguments))

    def write(self, model: str, select: str) -> None:
        self.project.write(f"models/{model}.sql", f"{select} as doubled {OF_FCT}")

    def run_id(self, number: int) -> str:
        result = self.runs[number]
        assert result is not None
        return result.run_id


def now() -> datetime:
    return datetime.now(timezone.utc).replace(tzinfo=None)


def lived(project: DbtProject) -> Timeline:
    """Edits, a failure, a sample, a rename, another node under the old name, a break."""
    time = Timeline(project)
    time.past(None)
    time.write("report", "select revenue * 3")
    time.run()
    time.write("report", "select no_such_column")
    time.run()
    assert time.runs[-1] and time.runs[-1].code != 0
    time.write("report", "select customer_id")
    time.run()
    time.write("report", "select revenue * 9")
    time.run("--empty")
    schema = (project.folder / "models/schema.yml").read_text()
    project.write("models/schema.yml", schema.replace("ref('report')", "ref('renamed')"))
    project.remove("models/report.sql")
    renamed = "{{ config(meta={'lineage': {'renamed_from': 'report'}}) }}\n"
    time.write("renamed", f"{renamed}select revenue * 4")
    time.run()
    time.write("renamed", f"{renamed}select revenue * 5")
    time.run()
    time.write("report", "select email_hash")
    time.run()
    project.remove("models/report.sql")
    time.past(project.dbt("run", "--select", "stg_orders"))
    time.write("report", "select customer_id")
    time.run()
    at = time.moments[IMPORTED_AFTER] - timedelta(microseconds=1)
    load(project, claim(RENAMED, ("model.shop.stg_orders", "amount"), "doubled", observed_at=at))
    return time


def answers(time: Timeline, asked: dict[str, tuple[Any, Any]]) -> dict[str, Answer]:
    """The answers of the macro, all in one query."""
    parts = []
    for name, moments in asked.items():
        given = ", ".join("none" if m is None else f"'{m.isoformat()}'" for m in moments)
        parts.append(
            f"select '{name}' as name, to_node, from_column, expression"
            f" from ({{{{ lineage_post.column_edges_as_of({given}) }}}}) as q_{len(parts)}"
            f" where to_node in ('{REPORT}', '{RENAMED}')"
        )
    project = time.project
    text = "{{ config(materialized='table') }}\n" + "\nunion all\n".join(parts)
    project.write("models/asked.sql", text)
    result = project.dbt("run", "--select", "asked")
    assert result.code == 0, result.lines
    project.remove("models/asked.sql")
    found: dict[str, Answer] = {name: set() for name in asked}
    for name, node, column, expression in project.query(f"select * from {project.schema}.asked"):
        found[name].add((node, column, factor(expression)))
    return found


def factor(expression: str | None) -> str | None:
    said = re.search(r"\* (\d)", expression or "")
    return said[1] if said else None


def expectations(time: Timeline) -> dict[str, tuple[tuple[Any, Any], Answer]]:
    """What is asked, as of and as recorded, and what is to be answered."""
    before_import = time.moments[-1]
    found: dict[str, tuple[tuple[Any, Any], Answer]] = {}
    for number, (moment, expected) in enumerate(zip(time.moments, EXPECTED, strict=True)):
        late = LATE if number >= IMPORTED_AFTER else set()
        found[f"of {number}"] = (moment, None), expected | late
        found[f"of {number}, before the import"] = (moment, before_import), expected
        found[f"as known at {number}"] = (None, moment), expected
        if number:
            found[f"of {number}, known before"] = (
                (moment, time.moments[number - 1]),
                EXPECTED[number - 1],
            )
    found["now"] = (None, None), EXPECTED[-1] | LATE
    found["long before"] = (datetime(2020, 1, 1), None), set()
    return found


def test_every_moment_of_ten_runs_and_a_late_import_is_answered(
    project: DbtProject, capsys: pytest.CaptureFixture[str]
) -> None:
    time = lived(project)
    wanted = expectations(time)
    found = answers(time, {name: asked for name, (asked, _) in wanted.items()})
    assert found == {name: expected for name, (_, expected) in wanted.items()}
    project.database.release()
    tables = RecordedTables(
        project.target / "manifest.json", project.folder, profiles_dir=str(project.folder)
    )
    for name, ((as_of, as_recorded), expected) in wanted.items():
        lineage, recalled = tables.lineage(as_of, as_recorded, Options())
        edges = {
            (e.to_node, e.from_column, factor(e.expression))
            for node in (REPORT, RENAMED)
            for e in (lineage.nodes[node].edges if node in lineage.nodes else ())
        }
        assert edges == expected, name
        assert (recalled.times.as_of, recalled.times.as_recorded) == (as_of, as_recorded)

    def ask(*arguments: str) -> Any:
        return cli(project, capsys, *arguments, "--profiles-dir", str(project.folder))

    a_column_tells_its_history(time, ask)
    with pytest.raises(
        AssertionError, match=r"column 'doubld' of model.shop.renamed\sDid you mean doubled"
    ):
        ask("history", "renamed.doubld")
    show_tells_what_changed_between_two_times(time, ask)


def a_column_tells_its_history(time: Timeline, ask: Callable[..., Any]) -> None:
    """Through the edits and the rename; what failed or was a sample is in it nowhere."""
    found = ask("history", "renamed.doubled")
    told = [
        (c["change"], c["run_id"], factor((c["after"] or {}).get("expression")))
        for c in found["changes"]
        if c["column"] == "doubled" and c["producer"] == "execution"
    ]
    assert [(t[0], t[2]) for t in told] == [
        ("first", "2"),
        ("changed", "3"),
        ("changed", None),
        ("changed", "4"),
        ("changed", "5"),
    ]
    assert [t[1] for t in told[1:]] == [time.run_id(n) for n in (1, 3, 5, 6)]
    late = [c for c in found["changes"] if c["producer"] == "logs"]
    assert [(c["change"], c["after"]["sources"]) for c in late] == [
        ("first", ["model.shop.stg_orders.amount"])
    ]
    columns = "change, run_id, expression"
    where = f"node = '{RENAMED}' and column_name = 'doubled' and producer = 'execution'"
    view = time.project.table("lineage_column_changes", columns, where)
    assert {(c, r, factor(e)) for c, r, e in view} == {*told}
    breaks = time.project.table(
        "lineage_column_changes", "change, run_id, sources", f"node = '{REPORT}'"
    )
    assert ("break", time.run_id(9), f"{FCT}.customer_id") in breaks
    failed = time.run_id(2)
    assert failed not in {row[1] for row in (*view, *breaks)}


def show_tells_what_changed_between_two_times(time: Timeline, ask: Callable[..., Any]) -> None:
    start, end = (time.moments[n].isoformat() for n in (3, 6))
    found = ask("show", "+renamed.doubled", "--as-of", f"{start}..{end}", "--as-recorded", end)
    told = [(c["unique_id"], c["change"], c["run_id"]) for c in found["changes"]]
    assert told == [(RENAMED, "changed", time.run_id(n)) for n in (5, 6)]
    assert found["metadata"]["from"] == f"{start}Z" and found["metadata"]["as_of"] == f"{end}Z"
    still = ask("show", "+renamed.doubled", "--as-of", f"{end}..", "--as-recorded", end)
    assert still["changes"] == []
