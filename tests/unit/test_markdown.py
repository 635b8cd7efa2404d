"""Generated Markdown is text wherever it is read: by a Markdown parser, as HTML, as Jinja."""

from __future__ import annotations

import html

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_post.publish import markdown

HOSTILE = [
    "<svg onload=alert(1)>",
    "a'); drop table x; --",
    "{{ 7*7 }}",
    "{% raw %}{% endraw %}{% enddocs %}",
    "{# comment",
    "left|right",
    "`tick` ``ticks``",
    "[x](javascript:alert(1))",
    "</script><script>alert(1)</script>",
    "*bold* _em_ __strong__ ~~gone~~",
    "# title",
    "https://example.com ada@example.com",
    "&lt;b&gt;",
    "back\\slash",
    "größe 日本",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_text_decodes_to_what_it_was(name: str) -> None:
    assert html.unescape(markdown.text(name)) == name


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("make", [markdown.text, markdown.code])
def test_nothing_in_a_name_is_markup_jinja_or_a_cell_border(name: str, make: object) -> None:
    made = make(name)  # type: ignore[operator]
    assert not set(made) & set("<>|{}\n")
    assert jinja2.Environment().from_string(made).render() == made


@given(st.text())
def test_no_text_at_all_is_markup_jinja_or_a_cell_border(name: str) -> None:
    for made in (markdown.text(name), markdown.code(name)):
        assert not set(made) & set("<>|{}\n\r\u2028\u202e\u200b\x00")


@given(st.text(st.characters(exclude_characters="…")))
def test_backticks_enclose_all_of_a_code_span_or_none_is_there(name: str) -> None:
    made = markdown.code(name)
    assert made.count("`") in (0, 2)
    assert "`" not in made or (made.startswith("`") and made.endswith("`"))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("amount", "`amount`"),
        ("SUM(o.amount)", "`SUM(o.amount)`"),
        ("a || b", "a &#124;&#124; b"),
        ("  two\n\tlines ", "`two lines`"),
        ("", ""),
    ],
)
def test_code_is_in_backticks_where_that_is_safe(name: str, shown: str) -> None:
    assert markdown.code(name) == shown


def test_long_code_is_cut() -> None:
    assert markdown.code("x" * 500, limit=20) == "`" + "x" * 19 + "…`"


def test_marks_that_turn_or_hide_text_are_spelled_out() -> None:
    assert markdown.visible("up\u202edown\u200b") == "up(U+202E)down(U+200B)"


def test_an_underscore_within_a_word_stays_and_one_at_its_edge_does_not_start_emphasis() -> None:
    assert markdown.text("stg_orders") == "stg_orders"
    assert markdown.text("_dlt_id_") == "&#95;dlt_id&#95;"


@pytest.mark.parametrize(
    ("unique_id", "address"),
    [
        ("model.shop.fct", "#!/model/model.shop.fct"),
        ("model.shop.pricing.v2", "#!/model/model.shop.pricing.v2"),
        ("source.shop.web.my visits", "#!/source/source.shop.web.my%20visits"),
        ("seed.shop.raw(1)", "#!/seed/seed.shop.raw%281%29"),
        ("snapshot.shop.history", "#!/snapshot/snapshot.shop.history"),
        ("external.db.schema.table", None),
    ],
)
def test_a_node_links_to_its_page(unique_id: str, address: str | None) -> None:
    assert markdown.page(unique_id) == address
    shown = markdown.node_link(unique_id, "the_label")
    assert shown == (f"[the_label]({address})" if address else "the_label")


def test_a_table_has_as_many_borders_in_each_row_as_in_its_head() -> None:
    rows = [[markdown.code(name), markdown.text(name)] for name in HOSTILE]
    lines = markdown.table(["Column", "Comes from"], rows).splitlines()
    assert len(lines) == 2 + len(HOSTILE)
    assert {line.count("|") for line in lines} == {3}
