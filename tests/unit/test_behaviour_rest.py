"""More cases from public reports, named like those of test_behaviour.

SE-01 and UI-* of the explorer and the docs site run in a browser (tests/browser); IN-05 is in
test_lineage_snapshots, UK-08 in test_lineage_modes, OL-* in test_openlineage.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lineage_post.cli import run
from lineage_post.trace import trace
from lineage_post.trace.dialects import rules_of
from lineage_post.vocabulary import State

from .manifests import make_manifest, make_model, make_source

RAW = make_source("orders", {"id": "int", "total": "double"})
SOURCE = "source.shop.raw.orders"
ROOT = Path(__file__).parents[2]
HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(2)) {{ 7*7 }} | a'); drop table x; --"
#: Live markup: a tag, or a link that runs.
LIVE = re.compile(r"<\s*img|\]\(\s*javascript:|(?<!\\)\{\{")


def project(folder: Path, *nodes: Any, name: str = "target") -> list[str]:
    (folder / name).mkdir(parents=True, exist_ok=True)
    manifest = make_manifest(RAW, *nodes)
    (folder / name / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return ["--project-dir", str(folder)]


def hostile(column: str, sql: str) -> Any:
    columns = {column: {"name": column, "description": HOSTILE}}
    return make_model("m", sql, [SOURCE], columns=columns, description=HOSTILE)


def without_code(markdown: str) -> str:
    """What of markdown is not in backticks, where everything is text."""
    return re.sub(r"(`+).*?\1", "", markdown)


def test_se_01_no_markdown_that_we_write_runs_anything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quoted = HOSTILE.replace('"', "'")
    flags = project(tmp_path, hostile(quoted, f'select id as "{quoted}" from dev.raw.orders'))
    changed = f'select total as "{quoted}" from dev.raw.orders where id > 0'
    project(tmp_path, hostile(quoted, changed), name="state")
    assert run(["diff", "--state", "state", "--output", "github", *flags]) == 0
    comment = capsys.readouterr().out
    assert "onerror" in comment and not LIVE.search(without_code(comment))
    assert run(["export", "mermaid", *flags]) == 0
    drawn = capsys.readouterr().out
    assert "onerror" in drawn and "<img" not in drawn


def test_se_01_a_terminal_is_not_written_to_by_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "\x1b[2J\u202ered\x07"
    flags = project(tmp_path, hostile(name, f'select id as "{name}" from dev.raw.orders'))
    for command in (["show", "m"], ["impact", "--drop", "orders.id"], ["unused"], ["cycles"]):
        run([*command, *flags])
        told = capsys.readouterr()
        assert not set("\x1b\u202e\x07") & set(told.out + told.err), command


def test_cf_05_nothing_of_dbt_is_needed_to_install_or_to_answer(tmp_path: Path) -> None:
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [needed] = re.findall(r"^dependencies = \[(.*?)^\]", settings, re.MULTILINE | re.DOTALL)
    assert "sqlglot" in needed and "dbt" not in needed
    flags = project(tmp_path, make_model("m", "select id from dev.raw.orders", [SOURCE]))
    program = (
        "import sys\n"
        "for name in ('dbt', 'dbt.adapters', 'dbt_common', 'duckdb'): sys.modules[name] = None\n"
        "from lineage_post.cli import run\n"
        "for command in (['build'], ['show', 'm.id'], ['impact', '--drop', 'orders.id'],\n"
        "                ['unused'], ['cycles'], ['diff', '--state', 'target']):\n"
        "    assert run([*command, *sys.argv[1:]]) < 2, command\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *flags], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    core = re.search(r"^dbt-core==1\.(\d+)\.", pins, re.MULTILINE)
    assert core is not None and int(core[1]) < 12


def cpu_of(work: Any) -> float:
    def once() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return min(once() for _ in range(3))


def test_pf_01_many_columns_and_arms_cost_a_few_parses_not_one_walk_per_column() -> None:
    names = [f"c{i}" for i in range(150)]
    arm = f"select {', '.join(f't.{n} + 1 as {n}' for n in names)} from t"
    sql = " union all ".join([arm] * 7)
    dialect = rules_of("duckdb").dialect
    parse = cpu_of(lambda: dialect.parse(sql))
    found = trace(sql, dialect="duckdb", schema={"t": dict.fromkeys(names, "int")})
    assert (found.state, len(found.outputs), len(found.edges)) == (State.KNOWN, 150, 150)
    schema = {"t": dict.fromkeys(names, "int")}
    assert cpu_of(lambda: trace(sql, dialect="duckdb", schema=schema)) < 6 * parse


def test_pf_03_twenty_three_natural_full_joins_are_read_at_once() -> None:
    tables = "abcdefghijklmnopqrstuvw"
    ctes = ", ".join(f"{t} as (select * from s.{t})" for t in tables)
    joins = " natural full outer join ".join(tables)
    sql = f"with {ctes} select * from {joins}"
    schema = {f"s.{t}": {"id": "int", t: "int"} for t in tables}
    assert cpu_of(lambda: trace(sql, dialect="duckdb", schema=schema)) < 3
    assert trace(sql, dialect="duckdb", schema=schema).state is State.KNOWN
