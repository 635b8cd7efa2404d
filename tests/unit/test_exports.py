"""The edges in other tools' forms: complete, and safe whatever a name says."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import duckdb
import pytest

from lineage_post.cli import run as run_cli
from lineage_post.lineage import Lineage
from lineage_post.publish.explorer import why_not_built
from lineage_post.publish.exports import COLUMNS, FORMS, write_parquet

from .lineages import lineage_of
from .manifests import make_manifest, make_model, make_source

ORDERS, MART = "source.shop.raw.orders", "model.shop.fct"
HOSTILE = '=cmd|"]; end\n<img onerror=x>\x01'
NODES = (
    make_source("orders", {"id": "int", "amount": "double", HOSTILE: "text"}),
    make_model(
        "fct",
        f'select id, "{HOSTILE.replace(chr(34), chr(34) * 2)}" from "dev"."raw"."orders" '
        "where amount > 0",
        [ORDERS],
    ),
)


@pytest.fixture(scope="module")
def lineage() -> Lineage:
    return lineage_of(*NODES)


def test_csv_has_every_edge_and_no_formula(lineage: Lineage) -> None:
    rows = list(csv.reader(io.StringIO(FORMS["csv"](lineage, list(lineage.edges())))))
    assert tuple(rows[0]) == COLUMNS and len(rows) == 4
    assert {row[1] for row in rows[1:]} == {"id", "amount", f"'{HOSTILE}"}


def test_json_has_metadata_and_edges(lineage: Lineage) -> None:
    document = json.loads(FORMS["json"](lineage, list(lineage.edges())))
    assert document["metadata"]["tool"] == "lineage_post" and len(document["edges"]) == 3


def test_parquet_reads_back(lineage: Lineage, tmp_path: Path) -> None:
    path = tmp_path / "it's.parquet"
    write_parquet(lineage, list(lineage.edges()), path)
    with duckdb.connect() as connection:
        found = connection.execute(
            "select from_column, to_column, masking from read_parquet(?) order by all", [str(path)]
        ).fetchall()
    assert found == [(HOSTILE, HOSTILE, False), ("amount", None, False), ("id", "id", False)]


def test_graphml_is_xml_with_a_node_for_the_rows(lineage: Lineage) -> None:
    root = ElementTree.fromstring(FORMS["graphml"](lineage, list(lineage.edges())))
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    ids = [node.get("id") for node in root.findall(".//g:node", space)]
    assert f"{MART}:" in ids and len(ids) == 6
    assert len(root.findall(".//g:edge", space)) == 3


def test_mermaid_labels_hold_no_syntax(lineage: Lineage) -> None:
    text = FORMS["mermaid"](lineage, list(lineage.edges()))
    lines = text.splitlines()
    line = re.compile(
        r'flowchart LR|  end|  subgraph n\d+\["[\w .:/#;-]+"\]|    c\d+\["[\w .:/#;-]+"\]'
        r'|  c\d+ (-->|-\.->)\|"[\w ,#;-]+"\| c\d+'
    )
    assert all(line.fullmatch(one) for one in lines), text
    assert sum("-.->" in one for one in lines) == 1


def test_dot_strings_are_closed(lineage: Lineage) -> None:
    text = FORMS["dot"](lineage, list(lineage.edges()))
    without = re.sub(r'"(?:[^"\\]|\\.)*"', "S", text)
    assert '"' not in without and "onerror" not in without
    assert text.count("style=dashed") == 1 and text.count("style=solid") == 2


def test_the_command_selects_edges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "target").mkdir()
    manifest = tmp_path / "target" / "manifest.json"
    manifest.write_text(json.dumps(make_manifest(*NODES)), encoding="utf-8")
    flags = ["--project-dir", str(tmp_path)]
    assert run_cli(["export", "csv", "-s", "+fct.id", "--direct", *flags]) == 0
    assert len(list(csv.reader(io.StringIO(capsys.readouterr().out)))) == 2
    assert run_cli(["export", "parquet", *flags]) == 2
    assert run_cli(["export", "csv", "--url", "http://localhost", *flags]) == 2
    assert run_cli(["export", "csv", "-o", str(tmp_path / "no" / "x.csv"), *flags]) == 2
    assert "no such folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("selector", "flags", "expected"),
    [
        ("b.v", [], {("raw.a", "v", "b", "v"), ("b", "v", "c", "total")}),
        ("c.n", [], {("b", "kind", "c", "")}),
        ("c.n", ["--direct"], set()),
        ("source:raw.a.unused", [], set()),
        ("b.v c.n", ["--direct"], {("raw.a", "v", "b", "v"), ("b", "v", "c", "total")}),
    ],
)
def test_a_column_that_is_named_alone_has_its_own_edges(
    selector: str,
    flags: list[str],
    expected: set[tuple[str, ...]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _write_project(tmp_path, "sum(v) as total, count(*) as n")
    asked = ["export", "csv", "-s", selector, "--project-dir", str(tmp_path), *flags]
    assert run_cli(asked) == 0
    streams = capsys.readouterr()
    found = csv.DictReader(io.StringIO(streams.out))
    keys = ("from_node", "from_column", "to_node", "to_column")
    assert {
        tuple(row[key].split(".", 2)[-1] if "node" in key else row[key] for key in keys)
        for row in found
    } == expected
    assert ("reads no column" in streams.err) is not bool(expected)


def test_a_selection_of_nothing_writes_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "target").mkdir()
    manifest = tmp_path / "target" / "manifest.json"
    manifest.write_text(json.dumps(make_manifest(*NODES)), encoding="utf-8")
    file = tmp_path / "edges.csv"
    asked = ["export", "csv", "-s", "nope", "-o", str(file), "--project-dir", str(tmp_path)]
    assert run_cli(asked) == 2
    assert "'nope' matches nothing" in capsys.readouterr().err and not file.exists()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--direct"], {("b", "v", "c", "total"), ("raw.a", "v", "b", "v")}),
        (
            [],
            {
                ("b", "v", "c", "total"),
                ("raw.a", "v", "b", "v"),
                ("raw.a", "kind", "b", "kind"),
                ("b", "kind", "c", ""),
            },
        ),
    ],
    ids=["values alone", "and what decides rows"],
)
def test_what_leads_to_a_column_hangs_together(
    flags: list[str],
    expected: set[tuple[str, ...]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No column that only decides rows is left without the edge by which it does."""
    _write_project(tmp_path, "sum(v) as total, max(kind) as last")
    asked = ["export", "csv", "-s", "+c.total", "--project-dir", str(tmp_path)]
    assert run_cli([*asked, *flags]) == 0
    found = csv.DictReader(io.StringIO(capsys.readouterr().out))
    ends = ("from_node", "from_column", "to_node", "to_column")
    short = [tuple(re.sub(r"^\w+\.shop\.", "", row[end]) for end in ends) for row in found]
    assert sorted(short) == sorted(expected)


def test_a_viewer_exports_what_a_viewer_sees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "target").mkdir()
    manifest = tmp_path / "target" / "manifest.json"
    manifest.write_text(json.dumps(make_manifest(*NODES)), encoding="utf-8")
    policy = tmp_path / "policy.yml"
    policy.write_text("default: v\nviewers: {v: {hide: ['source:raw']}}\n", encoding="utf-8")
    flags = ["--project-dir", str(tmp_path), "--policy", str(policy)]
    for form in ("csv", "mermaid", "openlineage"):
        assert run_cli(["export", form, *flags]) == 0
        out = capsys.readouterr().out
        assert "restricted" in out and "orders" not in out and "amount" not in out, form
    policy.write_text("default: v\nviewers: {v: {scope: [fct]}}\n", encoding="utf-8")
    for form in ("csv", "openlineage"):
        assert run_cli(["export", form, *flags]) == 0
        assert "left out" in capsys.readouterr().err, "and it is said"
    policy.write_text("default: v\nviewers: {v: {hide: ['source:raw']}}\n", encoding="utf-8")
    folder = tmp_path / "page"
    assert run_cli(["export", "explorer", *flags]) == 2, "it is a folder, which is to be named"
    if why_not_built() is not None:
        pytest.skip("the page is not built: run make explorer")
    assert run_cli(["export", "explorer", "-o", str(folder), *flags]) == 0
    told = "".join(
        gzip.decompress(base64.b64decode(path.read_text("utf-8").split('"')[3])).decode()
        for path in sorted((folder / "data").iterdir())
    )
    assert "restricted" in told and "orders" not in told and "amount" not in told
    assert run_cli(["export", "explorer", "-o", str(tmp_path), *flags]) == 2
    assert "something else" in capsys.readouterr().err


def _write_project(folder: Path, items: str) -> None:
    """raw.a -> b -> c, where c selects ``items`` of the rows of one kind."""
    sql = f"""select {items} from "dev"."main"."b" where kind = 'x'"""
    nodes = (
        make_source("a", {"kind": "text", "v": "double", "unused": "int"}),
        make_model("b", 'select kind, v from "dev"."raw"."a"', ["source.shop.raw.a"]),
        make_model("c", sql, ["model.shop.b"]),
    )
    (folder / "target").mkdir()
    manifest = folder / "target" / "manifest.json"
    manifest.write_text(json.dumps(make_manifest(*nodes)), encoding="utf-8")
