"""JSON by orjson: what it refuses or does in its own way."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lineage_post import fast_json


@pytest.mark.parametrize(
    "value",
    ["\ud800", {"\ud800": 1}, {"a": [None, True, 1.5, "\u2028"]}, ("a", ("b",)), {1: "a"}, 2**64],
)
def test_a_value_is_written_as_the_standard_library_does(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert fast_json.dumps(value) == text.encode("utf-8", "surrogatepass")
    assert fast_json.dumps_text(value) == text


@pytest.mark.parametrize(
    "text", ['"\\ud800"', "NaN", "1.50", '{"a": 1, "a": 2}', "[" * 500 + "]" * 500]
)
def test_a_text_is_read_as_the_standard_library_does(text: str) -> None:
    for data in (text, text.encode(), bytearray(text.encode()), memoryview(text.encode())):
        assert repr(fast_json.loads(data)) == repr(json.loads(text))


def test_numbers_that_json_or_orjson_has_not_lose_what_they_have_beyond() -> None:
    assert fast_json.loads("18446744073709551617") == float(2**64)
    assert fast_json.dumps([float("nan"), float("-inf")]) == b"[null,null]"


@pytest.mark.parametrize("data", [b"", b"{", b'"\xff"', "[1,]", b"{}x"])
def test_what_is_no_json_is_a_value_error(data: bytes | str) -> None:
    with pytest.raises(ValueError):
        fast_json.loads(data)


def test_a_value_without_json_is_what_the_default_makes_of_it_or_a_type_error() -> None:
    assert fast_json.dumps({"a": {1, 2}}, default=sorted) == b'{"a":[1,2]}'
    with pytest.raises(TypeError):
        fast_json.dumps({1, 2})
