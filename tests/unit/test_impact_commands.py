"""The commands over small manifests: exit codes and JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lineage_post.cli import run
from lineage_post.errors import SelectionError

from .lineages import lineage_of
from .manifests import make_manifest, make_model, make_source

SOURCE = make_source("orders", {"id": "int", "total": "double"})


def answer(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, *nodes: Any
) -> tuple[int, Any]:
    target = folder / "target"
    target.mkdir(exist_ok=True)
    (target / "manifest.json").write_text(
        json.dumps(make_manifest(SOURCE, *nodes)), encoding="utf-8"
    )
    words = [*command.split(), "--project-dir", str(folder), "--output", "json"]
    code = run(words)
    out = capsys.readouterr().out
    return code, json.loads(out) if out else None


def stg(sql: str) -> Any:
    return make_model("stg", sql, ["source.shop.raw.orders"])


def test_a_cycle_across_a_table_is_a_feedback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "select id, total from dev.raw.orders where id > (select max(id) from dev.main.inc)"
    inc = make_model("inc", sql, ["source.shop.raw.orders"], materialized="incremental")
    code, document = answer(tmp_path, capsys, "cycles", inc)
    (cycle,) = document["cycles"]
    assert (code, cycle["kind"]) == (0, "feedback")
    assert {"unique_id": "model.shop.inc", "column": "id"} in cycle["columns"]


def test_a_cycle_of_views_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = make_model("one", "select id from dev.main.two")
    two = make_model("two", "select id from dev.main.one", ["model.shop.one"])
    code, document = answer(tmp_path, capsys, "cycles", one, two)
    assert (code, [c["kind"] for c in document["cycles"]]) == (1, ["error"])
    assert {c["column"] for c in document["cycles"][0]["columns"]} >= {"id"}


def test_unused_columns_are_listed_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = answer(tmp_path, capsys, "unused", stg("select id from dev.raw.orders"))
    assert code == 0
    assert [(u["unique_id"], u["column"]) for u in document["unused"]] == [
        ("source.shop.raw.orders", "total")
    ]
    assert document["unused"][0]["because"].startswith("1 reader, all of them known")


def test_impact_exits_with_one_when_something_breaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = stg("select id from dev.raw.orders")
    code, document = answer(tmp_path, capsys, "impact --rename orders.id=key", model)
    assert (code, document["changes"][0]["summary"]["breaks"]) == (1, {"model": 1})
    code, document = answer(tmp_path, capsys, "impact --drop raw.orders.total", model)
    assert (code, document["changes"][0]["dependents"]) == (0, [])


def test_strict_makes_what_is_possible_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = stg("select (((")
    assert answer(tmp_path, capsys, "impact --drop orders.total", broken)[0] == 0
    code, document = answer(tmp_path, capsys, "impact --drop orders.total --strict", broken)
    assert (code, [p["name"] for p in document["changes"][0]["possibly_affected"]]) == (1, ["stg"])


def say(folder: Path, capsys: pytest.CaptureFixture[str], command: str) -> tuple[int, str, str]:
    code = run([*command.split(), "--project-dir", str(folder)])
    return (code, *capsys.readouterr())


def state(folder: Path, *nodes: Any) -> None:
    """Artifacts of another state, in ``state`` beside the project's own."""
    other = folder / "state"
    other.mkdir()
    manifest = make_manifest(SOURCE, *nodes)
    (other / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def reads_stg(sql: str) -> Any:
    return make_model("fct", sql, ["model.shop.stg"])


def test_each_answer_is_limited_by_selectors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = (stg("select id, total from dev.raw.orders"), reads_stg("select id from dev.main.stg"))
    state(tmp_path, stg("select id, 2 * total as total from dev.raw.orders"),
          reads_stg("select id from dev.main.stg where id > 0"))  # fmt: skip

    def unused(select: str) -> list[tuple[str, str]]:
        _, document = answer(tmp_path, capsys, f"unused {select}", *nodes)
        return [(u["unique_id"], u["column"]) for u in document["unused"]]

    def changed(select: str) -> list[tuple[str, str | None]]:
        _, document = answer(tmp_path, capsys, f"diff --state state {select}", *nodes)
        assert document["impacted"] or not document["changes"]
        return [(c["unique_id"], c["column"]) for c in document["changes"]]

    source, own = ("source.shop.raw.orders", "total"), ("model.shop.stg", "total")
    assert unused("") == [own, source]
    assert unused("--select source:raw.orders.total") == [source]
    assert unused("--exclude source:*") == [own]
    assert changed("") == [own, ("model.shop.fct", None)]
    assert changed("--select stg.total") == [own]
    assert changed("-s fct") == [("model.shop.fct", None)]
    assert changed("--select +fct --exclude stg") == [("model.shop.fct", None)]
    assert changed("--select fct.id") == []


@pytest.mark.parametrize("command", ["unused", "cycles", "diff --state state"])
def test_a_wrong_column_is_an_error_with_near_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    model = stg("select id, total from dev.raw.orders")
    state(tmp_path, model)
    answer(tmp_path, capsys, "cycles", model)
    code, out, said = say(tmp_path, capsys, f"{command} --select stg.totl")
    assert (code, out) == (2, "")
    assert "stg has no column 'totl'" in said and "Did you mean total?" in said


def test_what_one_state_alone_has_can_be_selected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now = (stg("select id from dev.raw.orders"), reads_stg("select id from dev.main.stg"))
    gone = make_model("gone", "select id from dev.main.stg", ["model.shop.stg"])
    state(tmp_path, stg("select id, total from dev.raw.orders"), now[1], gone)
    for select, expected in [
        ("stg.total", [("column_removed", "model.shop.stg")]),
        ("gone", [("node_removed", "model.shop.gone")]),
    ]:
        _, document = answer(tmp_path, capsys, f"diff --state state --select {select}", *now)
        assert [(c["kind"], c["unique_id"]) for c in document["changes"]] == expected


def test_a_seed_whose_file_is_the_same_has_the_same_columns_in_both_states(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its file stands in the project alone; the other state has no more than its manifest."""
    seed = make_model("items", None, unique_id="seed.shop.items", resource_type="seed",
                      original_file_path="seeds/items.csv", root_path="/home/of/another",
                      checksum={"name": "sha256", "checksum": "a1"})  # fmt: skip
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "items.csv").write_text("id,colour\n1,red\n", encoding="utf-8")
    (tmp_path / "dbt_project.yml").write_text("name: shop\n", encoding="utf-8")
    model = make_model("m", "select id from dev.main.items", ["seed.shop.items"])
    state(tmp_path, seed, model)
    _, document = answer(tmp_path, capsys, "diff --state state", seed, model)
    assert document["changes"] == []


def test_rows_of_an_answer_are_lines_in_a_pipe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = 'select id as "[red]\u65e5" from dev.main.stg'
    wide = make_model("m" * 90, sql, ["model.shop.stg"])
    answer(tmp_path, capsys, "cycles", stg("select id from dev.raw.orders"), wide)
    code, out, _ = say(tmp_path, capsys, "impact --drop orders.id")
    first, *rows = out.splitlines()[:3]
    assert code == 1 and first == "drop raw.orders.id: breaks 2 models"
    assert [row.split()[:2] for row in rows] == [["model", "stg"], ["model", "m" * 90]]
    assert "[red]\u65e5 value" in rows[1] and rows[0].index("id value") == rows[1].index("[red]")


def test_a_row_names_a_few_columns_and_counts_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = ", ".join(f"total + {n} as c{n}" for n in range(40))
    answer(tmp_path, capsys, "unused", stg(f"select {columns} from dev.raw.orders"))
    _, out, _ = say(tmp_path, capsys, "impact --drop orders.total")
    (line,) = [line for line in out.splitlines() if "stg" in line]
    assert line.count(" value") == 12
    assert "and 28 more" in line


@pytest.mark.parametrize(
    ("rename", "said"),
    [
        ("orders.id=orders.key", "'orders.key' has a dot"),
        ("orders.id=key.", "'key.' has a dot"),
        ('orders.id="orders"."key"', """'"orders"."key"' has a dot"""),
        ("orders.id=id", "'id' is the name that the column of source.shop.raw.orders has"),
        ('orders.id="id"', "'id' is the name that the column of source.shop.raw.orders has"),
        ("orders.id=ID", "'ID' is the name that the column of source.shop.raw.orders has but for"),
        ("orders.id= ", "there is no new name"),
        ("orders.id=TOTAL", "has a column 'total' already"),
    ],
)
def test_a_new_name_that_cannot_be_one_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rename: str, said: str
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "manifest.json").write_text(json.dumps(make_manifest(SOURCE)), encoding="utf-8")
    assert run(["impact", "--rename", rename, "--project-dir", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert said in " ".join(error.split())
    name, _, to = rename.partition("=")
    with pytest.raises(SelectionError, match=re.escape(said)):
        lineage_of(SOURCE).impact(rename={name: to})


@pytest.mark.parametrize(("name", "plain"), [('"a.b"', "a.b"), ('"a""."', 'a".'), ("`a`", "a")])
def test_a_new_name_in_quotes_may_have_dots(name: str, plain: str) -> None:
    (found,) = lineage_of(SOURCE).impact(rename={"orders.id": name})
    assert found.change.to == plain


@pytest.mark.parametrize(
    ("to", "quoted"),
    [("key", None), ("a b", '"a b"'), ("1x", '"1x"'), ("select", '"select"'), ('a"b', '"a""b"')],
)
def test_a_new_name_that_sql_has_to_quote_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], to: str, quoted: str | None
) -> None:
    (tmp_path / "target").mkdir()
    manifest = json.dumps(make_manifest(SOURCE))
    (tmp_path / "target/manifest.json").write_text(manifest, encoding="utf-8")
    run(["impact", "--rename", f"orders.id={to}", "--project-dir", str(tmp_path)])
    err = capsys.readouterr().err
    assert (f"SQL has to quote it, as in {quoted}" in err) is (quoted is not None)


def test_the_counts_fit_the_rows_that_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = {name: {"name": name, "data_type": "int"} for name in ("a", "b")}
    fct = make_model("fct", "select id + 1 as a, id as b from dev.raw.orders",
                     ["source.shop.raw.orders"], columns=columns,
                     config={"contract": {"enforced": True}})  # fmt: skip
    target = tmp_path / "target"
    target.mkdir()
    (target / "manifest.json").write_text(json.dumps(make_manifest(SOURCE, fct)), "utf-8")
    run(["impact", "--retype", "orders.id", "--all", "--project-dir", str(tmp_path)])
    title, *rows = capsys.readouterr().out.splitlines()
    listed = [row for row in rows if row.startswith("contract")]
    assert len(listed) == 2 and "1 contract in 2 places" in title, [title, *rows]


def test_diff_tells_which_sql_may_not_take_another_type_and_fails_where_that_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def of_type(data_type: str) -> Any:
        columns = {"total": {"name": "total", "data_type": data_type}}
        sql = "select total from dev.raw.orders"
        return make_model("stg", sql, ["source.shop.raw.orders"], columns=columns)

    last = reads_stg("select sum(total) as total from dev.main.stg")
    state(tmp_path, of_type("double"), last)
    answer(tmp_path, capsys, "cycles", of_type("text"), last)
    code, out, _ = say(tmp_path, capsys, "diff --state state --fail-on breaking -s stg")
    [line] = [line for line in out.splitlines() if "may break" in line]
    assert code == 0 and "fct: total (model) models/fct.sql:1 SUM over text" in line
    assert say(tmp_path, capsys, "diff --state state --fail-on unknown")[0] == 1
