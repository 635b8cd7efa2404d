"""Polynomials: parsed, printed, and read in semirings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_post.errors import LineageError
from lineage_post.provenance.polynomial import (
    ONE,
    ZERO,
    Polynomial,
    Product,
    Sum,
    Token,
    add,
    multiply,
    parse,
    substitute,
    tokens,
    written_token,
)
from lineage_post.provenance.semiring import (
    BOOLEAN,
    COUNTING,
    SECURITY,
    TROPICAL,
    WHY,
    Semiring,
    evaluate,
    minimal,
)

A, B, C = (Token("t", (name,)) for name in "abc")
GATE = Token("@g1", ("7",))
GATES: dict[Token, Polynomial] = {GATE: add([B, C])}

keys = st.lists(st.none() | st.text(max_size=8), min_size=1, max_size=3).map(tuple)
leaves = st.builds(Token, st.sampled_from(["orders", "t_2", "@g1"]), keys)
polynomials = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map(add)
        | st.lists(inner, min_size=2, max_size=3).map(multiply)
    ),
    max_leaves=8,
)


def written(polynomial: Polynomial) -> str:
    """The text as SQL would make it, all parts counted."""
    if isinstance(polynomial, Token):
        return written_token(polynomial.name, polynomial.key, [False] * len(polynomial.key))
    if isinstance(polynomial, Sum):
        return f"({'+'.join(written(term) for term in polynomial.terms)})"
    if isinstance(polynomial, Product):
        return "*".join(written(factor) for factor in polynomial.factors)
    return str(polynomial)


@given(polynomials)
def test_what_sql_writes_is_what_is_parsed(polynomial: Polynomial) -> None:
    assert parse(written(polynomial)) == polynomial


@given(polynomials)
def test_what_is_printed_is_what_is_parsed(polynomial: Polynomial) -> None:
    assert parse(str(polynomial)) == polynomial


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("orders[42]*(items[7]+items[8])", "orders[42]*(items[7] + items[8])"),
        ("1", "1"),
        ("1*orders[1]", "orders[1]"),
        ("(0+orders[1])", "orders[1]"),
        ("orders[1]*0", "0"),
        ("orders[~|2020-01-01 00:00:00+00]", "orders[~|2020-01-01 00:00:00+00]"),
        ("t['4:a|b*]", "t['4:a|b*]"),
        ("t['3:a b]", "t[a b]"),
        ("t['0:|'1:~|~]", "t['0:|'1:~|~]"),
        ("@s1[]", "@s1[]"),
    ],
)
def test_a_polynomial_is_read_and_simplified(text: str, expected: str) -> None:
    assert str(parse(text)) == expected


@pytest.mark.parametrize("text", ["", "(orders[1]", "orders[1", "orders[1]+", "2", "t['9:a]"])
def test_what_is_no_polynomial_is_an_error(text: str) -> None:
    with pytest.raises(LineageError):
        parse(text)


def test_tokens_are_listed_as_often_as_they_stand() -> None:
    assert list(tokens(add([A, multiply([A, B])]))) == [A, A, B]


def test_a_gate_can_be_put_in() -> None:
    assert substitute(multiply([A, GATE]), lambda t: GATES.get(t, t)) == multiply([A, add([B, C])])


def test_counting_counts_derivations() -> None:
    assert evaluate(multiply([A, GATE]), COUNTING, lambda _: 1, GATES) == 2
    assert evaluate(add([A, A]), COUNTING, lambda _: 1) == 2


@pytest.mark.parametrize(
    ("gone", "survives"), [((), True), ((B,), True), ((B, C), False), ((A,), False)]
)
def test_boolean_foretells_survival(gone: tuple[Token, ...], survives: bool) -> None:
    assert evaluate(multiply([A, GATE]), BOOLEAN, lambda t: t not in gone, GATES) is survives


def test_tropical_finds_the_cheapest_derivation() -> None:
    costs = {A: 1.0, B: 5.0, C: 2.0}
    assert evaluate(multiply([A, GATE]), TROPICAL, costs.__getitem__, GATES) == 3.0


def test_security_finds_the_lowest_clearance_that_sees_the_row() -> None:
    levels = {A: 1.0, B: 3.0, C: 2.0}
    assert evaluate(multiply([A, GATE]), SECURITY, levels.__getitem__, GATES) == 2.0


def test_why_gives_the_sets_that_are_enough() -> None:
    sets = evaluate(multiply([A, GATE]), WHY, lambda t: frozenset({frozenset({t})}), GATES)
    assert sets == {frozenset({A, B}), frozenset({A, C})}
    assert minimal(frozenset({frozenset({A}), frozenset({A, B})})) == {frozenset({A})}


def test_a_users_own_semiring_is_read_the_same_way() -> None:
    trust: Semiring[float] = Semiring(0.0, 1.0, max, lambda a, b: a * b)
    worth = {A: 0.5, B: 0.4, C: 1.0}
    assert evaluate(multiply([A, GATE]), trust, worth.__getitem__, GATES) == 0.5


def test_a_constant_is_one_or_zero() -> None:
    assert evaluate(ONE, COUNTING, lambda _: 1) == 1
    assert evaluate(ZERO, BOOLEAN, lambda _: True) is False


def test_a_gate_that_is_not_expanded_is_an_error() -> None:
    with pytest.raises(LineageError, match="not expanded"):
        evaluate(GATE, COUNTING, lambda _: 1)
