"""The panel in both pages: added once, replaced by a later run, safe whatever is in the data."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from lineage_post.errors import ArtifactError
from lineage_post.lineage import Lineage
from lineage_post.options import Options
from lineage_post.publish import docs_data
from lineage_post.publish.docs import decorate
from lineage_post.publish.docs_data import encoded, panel_data
from lineage_post.publish.docs_page import static_page, with_panel, without_panel
from lineage_post.vocabulary import Certainty, Reason, State, Subtype
from tests.unit.handmade import column, edge, make_lineage

RAW, STG = "seed.shop.raw", "model.shop.stg"
PAGE = (
    "<html><head><script>load('manifest', \"MANIFEST.JSON INLINE DATA\");"
    "load('catalog', \"CATALOG.JSON INLINE DATA\")</script></head>"
    "<body><div ui-view></div></body></html>\n"
)


def shop(**more: Any) -> Lineage:
    columns = {RAW: ["id", "email"], STG: ["order_id", column("mail", expression="md5(email)")]}
    edges = [
        edge(f"{RAW}:id", f"{STG}:order_id", Subtype.IDENTITY),
        edge(f"{RAW}:email", f"{STG}:mail", Subtype.TRANSFORMATION, masking=True),
        edge(f"{RAW}:id", STG, Subtype.FILTER, certainty=Certainty.ASSUMED),
    ]
    return make_lineage(columns, edges, **more)


def inlined(html: str) -> dict[str, Any]:
    found = re.search(r'<script[^>]*data-encoding="(\w+)">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    text = found[2]
    if found[1] == "gzip":
        text = gzip.decompress(base64.b64decode(text)).decode("utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def test_the_data_name_nodes_and_columns_once_and_refer_to_them_by_number() -> None:
    data = panel_data(shop())
    stg, raw = data["nodes"]
    assert raw == [RAW, "raw", 0, 0, "", [["id"], ["email"]]]
    assert stg[:2] == [STG, "stg"]
    assert stg[5] == [
        ["order_id", 0, 0, 0, [[1, 0, 0]]],
        ["mail", 0, 0, "md5(email)", [[1, 1, 17]]],
    ]
    assert stg[6] == [[1, 0, data["subtypes"].index("filter") | 32]]


def test_sql_is_left_out_where_the_options_say_so() -> None:
    data = panel_data(shop(options=Options(expressions=False)))
    assert "md5" not in json.dumps(data)


def test_unknown_and_constant_columns_differ_in_the_data() -> None:
    columns = [column("a", State.UNKNOWN, Reason.PARSE_ERROR), column("b")]
    ((_, _, _, _, _, (unknown, constant)),) = panel_data(make_lineage({STG: columns}))["nodes"]
    assert unknown[1:3] == [2, 1 + list(Reason).index(Reason.PARSE_ERROR)]
    assert constant == ["b"]


def test_a_node_with_unknown_columns_is_named_as_a_reader_of_what_it_reads() -> None:
    columns = {RAW: ["id"], STG: [column("x", State.UNKNOWN, Reason.PYTHON_MODEL)]}
    states = {STG: (State.UNKNOWN, Reason.PYTHON_MODEL)}
    lineage = make_lineage(columns, [edge(f"{RAW}:id", STG, Subtype.JOIN)], states=states)
    stg, _ = panel_data(lineage)["nodes"]
    assert stg[7] == [1]


def test_a_column_of_a_relation_that_nothing_is_known_of_goes_by_its_name() -> None:
    lineage = make_lineage({STG: ["a"]}, [edge("external.db.s.t:b", f"{STG}:a", Subtype.IDENTITY)])
    external, stg = panel_data(lineage)["nodes"]
    assert external[:3] == ["external.db.s.t", "db.s.t", 2]
    assert stg[5] == [["a", 0, 0, 0, [[0, "b", 0]]]]


def test_the_page_gets_the_panel_once_and_gives_it_back() -> None:
    once = with_panel(PAGE, panel_data(shop()))
    assert with_panel(once, panel_data(shop())) == once
    assert without_panel(once) == PAGE
    assert once.rstrip().endswith("</body></html>")
    assert once.count('id="lineage-post-data"') == 1


def test_letters_that_grow_in_lower_case_do_not_move_the_panel() -> None:
    html = with_panel("<body>İİİ</body></html>", panel_data(shop()))
    assert html.startswith("<body>İİİ<!--") and html.endswith("</body></html>")


def test_a_later_run_replaces_the_panel() -> None:
    first = with_panel(PAGE, panel_data(shop()))
    later = with_panel(first, panel_data(make_lineage({STG: ["other"]})))
    assert [node[5] for node in inlined(later)["nodes"]] == [[["other"]]]


@pytest.mark.parametrize("limit", [10, 10**9])
def test_no_string_ends_the_script_it_stands_in(limit: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(docs_data, "GZIP_FROM", limit)
    name = "</script><script>alert(1)</script><!-- \u2028"
    html = with_panel(PAGE, panel_data(make_lineage({STG: [name]})))
    assert html.lower().count("</script") == PAGE.count("</script") + 2
    assert "alert(1)</script>" not in html
    assert inlined(html)["nodes"][0][5] == [[name]]


def test_small_data_are_json_and_large_data_are_packed() -> None:
    small = panel_data(shop())
    assert encoded(small)[0] == "json"
    large = panel_data(make_lineage({STG: [f"column_{i}" for i in range(30_000)]}))
    encoding, text = encoded(large)
    assert encoding == "gzip" and len(text) < 150_000
    assert encoded(large) == (encoding, text), "the same data give the same bytes"


def test_the_static_page_inlines_both_artifacts_safely() -> None:
    html = static_page(PAGE, manifest='{"a": "</script>"}', catalog="{}")
    assert html is not None
    assert html.count("</script>") == 1
    assert "\\u003c/script>" in html and "INLINE DATA" not in html


def test_a_page_that_is_not_dbt_s_own_is_not_inlined() -> None:
    assert static_page("<html></html>", manifest="{}", catalog="{}") is None


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A target folder as ``dbt docs generate --static`` leaves it."""
    stg = {"unique_id": STG, "package_name": "shop", "columns": {}}
    text = json.dumps({"metadata": {}, "nodes": {STG: stg}, "sources": {}})
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    (tmp_path / "catalog.json").write_text('{"nodes": {}}', encoding="utf-8")
    (tmp_path / "index.html").write_text(PAGE, encoding="utf-8")
    static = PAGE.replace('"MANIFEST.JSON INLINE DATA"', text)
    static = static.replace('"CATALOG.JSON INLINE DATA"', '{"nodes": {}}')
    (tmp_path / "static_index.html").write_text(static, encoding="utf-8")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_decorating_twice_gives_the_same_bytes_and_leaves_nothing_behind(target: Path) -> None:
    decorate(target, shop())
    once = contents(target)
    decorate(target, shop())
    assert contents(target) == once
    assert set(once) == {
        "manifest.json",
        "catalog.json",
        "index.html",
        "static_index.html",
        "lineage_post/index.html",
    }


def test_the_static_page_has_the_decorated_manifest_and_the_panel(target: Path) -> None:
    decorate(target, shop())
    html = (target / "static_index.html").read_text(encoding="utf-8")
    assert "**Comes from**" in html
    assert inlined(html)["invocation"] == "one"


def test_the_page_to_serve_is_the_decorated_one(target: Path) -> None:
    decorate(target, shop())
    kept = (target / "lineage_post" / "index.html").read_bytes()
    assert kept == (target / "index.html").read_bytes()


def test_pages_that_are_not_there_are_left_out(target: Path) -> None:
    for name in ("index.html", "static_index.html", "catalog.json"):
        (target / name).unlink()
    done = decorate(target, shop())
    assert [path.name for path in done.files] == ["manifest.json"]
    assert set(contents(target)) == {"manifest.json"}


@pytest.mark.parametrize("text", [None, "{", "[]"])
def test_a_manifest_that_cannot_be_read_is_said_and_nothing_is_touched(
    target: Path, text: str | None
) -> None:
    path = target / "manifest.json"
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    before = contents(target)
    with pytest.raises(ArtifactError, match=r"manifest\.json"):
        decorate(target, shop())
    assert contents(target) == before
