"""The Python face: two functions at the top, whatever was imported before."""

from __future__ import annotations

import subprocess
import sys

import pytest

SQL = "select sum(amount) as revenue from orders"


@pytest.mark.parametrize(
    "code",
    [
        "import lineage_post; trace = lineage_post.trace",
        "from lineage_post import trace",
        "import lineage_post.trace.schema_index, lineage_post; trace = lineage_post.trace",
        "from lineage_post.trace import trace",
        "import lineage_post; lineage_post.trace; from lineage_post import trace",
    ],
)
def test_trace_is_a_function_however_it_is_imported(code: str) -> None:
    call = f"trace({SQL!r}, dialect='duckdb', schema={{'orders': {{'amount': 'int'}}}})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nprint({call}.to_dict()['edges'][0]['to'])"],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "revenue\n", done.stderr


def test_the_hints_of_the_functions_can_be_read_and_their_import_brings_no_sqlglot() -> None:
    code = (
        "import sys, typing, lineage_post.trace as t\n"
        "from lineage_post.trace import Entry, Schema, SchemaIndex\n"
        "for f in (t.trace, t.trace_script):\n"
        "    assert typing.get_type_hints(f)['schema'] == Schema, f\n"
        "assert not set(t.__all__) - set(dir(t))\n"
        "sys.exit('sqlglot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_load_is_at_the_top_too() -> None:
    import lineage_post
    from lineage_post.lineage import load

    assert lineage_post.load is load


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    import lineage_post

    with pytest.raises(AttributeError, match="no attribute 'trase'"):
        lineage_post.trase  # noqa: B018
