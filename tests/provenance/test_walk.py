"""Walking through stored tables to the sources, and what each step says of the stored row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from lineage_post.provenance.answer import Explained, Label
from lineage_post.provenance.connection import DuckDb, QueryFailed
from lineage_post.provenance.identity import identity_of
from lineage_post.provenance.polynomial import Token, parse
from lineage_post.provenance.prepare import prepare
from lineage_post.provenance.refusal import Refusal
from lineage_post.provenance.relations import BaseTable, NamedRelations
from lineage_post.provenance.semiring import NAMED, Semiring, evaluate
from lineage_post.provenance.settings import Settings
from lineage_post.provenance.walk import Walker
from lineage_post.provenance.witnesses import fetch
from tests.provenance.shop import Shop, shop

TO_SOURCES = Settings(depth=None)


@pytest.fixture
def built() -> Iterator[Shop]:
    made = shop()
    yield made
    made.connection.close()


def ask(made: Shop, model: str, where: str, settings: Settings = TO_SOURCES) -> list[Explained]:
    walker = Walker(made.lineage, DuckDb(made.connection), settings)
    return walker.why(made.id_of(model), where)


def sources_of(answer: Explained) -> set[tuple[str, str]]:
    """The source rows an answer ends in, whatever lies between."""
    found: set[tuple[str, str]] = set()
    for witness in answer.witnesses:
        if witness.why is not None:
            found |= sources_of(witness.why)
        else:
            found.add((witness.relation, witness.token))
    return found


def below(answer: Explained, relation: str) -> list[Explained]:
    """The answers for the witnesses of one relation, at any depth."""
    found: list[Explained] = []
    for witness in answer.witnesses:
        if witness.why is not None:
            found += [witness.why] if witness.relation.endswith(f".{relation}") else []
            found += below(witness.why, relation)
    return found


@pytest.mark.parametrize("model", ["fct_orders", "by_customer", "snap_customers"])
def test_stepwise_equals_inlining_on_a_rebuilt_project_for_every_row(
    model: str, built: Shop
) -> None:
    stepwise = ask(built, model, "true")
    inlined = ask(built, model, "true", replace(TO_SOURCES, as_of_now=model != "snap_customers"))
    assert all(answer.label is Label.REPRODUCED for answer in stepwise)
    assert sorted(map(sorted, map(sources_of, stepwise))) == sorted(
        map(sorted, map(sources_of, inlined))
    )


def test_a_view_is_read_through_and_a_stored_table_is_a_step(built: Shop) -> None:
    [answer] = ask(built, "by_customer", "customer_id = 10")
    assert answer.counts == {"model.shop.fct_orders": 2}
    assert sources_of(answer) == {
        ("source.shop.raw.raw_orders", "raw_orders[0]"),
        ("source.shop.raw.raw_orders", "raw_orders[1]"),
        ("source.shop.raw.raw_customers", "raw_customers[0]"),
    }


def test_depth_says_how_many_steps_are_walked(built: Shop) -> None:
    [answer] = ask(built, "by_customer", "customer_id = 10", Settings(depth=1))
    assert all(witness.why is None for witness in answer.witnesses)


def test_a_stale_incremental_row_is_found_where_inlining_finds_it_no_more(built: Shop) -> None:
    built.run("update raw_orders set customer_id = 20 where order_id = 1")
    built.run("delete from raw_orders where order_id = 2")
    [answer] = ask(built, "by_customer", "customer_id = 10")
    assert answer.label is Label.REPRODUCED
    orders = {a.row["order_id"]: a for a in below(answer, "fct_orders")}
    assert orders[1].label is Label.CHANGED
    assert orders[1].changed == ("customer_id", "tier")
    assert orders[2].label is Label.GONE
    assert not ask(built, "by_customer", "customer_id = 10", replace(TO_SOURCES, as_of_now=True))


def test_a_column_that_reads_the_clock_is_left_out_of_the_comparison(built: Shop) -> None:
    [answer] = ask(built, "fct_orders", "order_id = 3")
    assert answer.label is Label.REPRODUCED
    assert any("clock" in note for note in answer.notes)


def test_the_versions_of_a_snapshot_are_told_apart(built: Shop) -> None:
    built.run("update raw_customers set tier = 'gold' where customer_id = 20")
    built.run("update snap_customers set dbt_valid_to = date '2024-02-01' where customer_id = 20")
    built.run("insert into snap_customers values (20, 'Bob', 'gold', date '2024-02-01', null)")
    old, new = ask(built, "snap_customers", "customer_id = 20")
    assert (old.row["tier"], old.label, old.changed) == ("new", Label.CHANGED, ("tier",))
    assert (new.row["tier"], new.label) == ("gold", Label.REPRODUCED)
    [answer] = ask(built, "top", "name = 'Bob'")
    [step] = below(answer, "snap_customers")
    assert step.row["tier"] == "gold"


def test_a_python_model_is_a_leaf_and_not_the_end(built: Shop) -> None:
    [answer] = ask(built, "top", "name = 'Ada'")
    assert answer.label is Label.REPRODUCED
    [leaf] = below(answer, "python_scores")
    assert leaf.label is Label.REFUSED and "Python model" in (leaf.refusal or "")
    assert len(sources_of(answer)) >= 3


def test_a_refused_view_is_a_leaf_for_the_models_that_read_it(built: Shop) -> None:
    [answer] = ask(built, "over_tiers", "customer_id = 10")
    assert answer.label is Label.REPRODUCED
    assert any("PIVOT on line 1" in note for note in answer.notes)
    [leaf] = [w for w in answer.witnesses if w.relation == "model.shop.tiers"]
    assert leaf.key == {"customer_id": 10, "gold": 24}
    assert leaf.why is not None and leaf.why.label is Label.REFUSED
    assert any(relation == "source.shop.raw.raw_orders" for relation, _ in sources_of(answer))
    [now] = ask(built, "over_tiers", "customer_id = 10", replace(TO_SOURCES, as_of_now=True))
    assert now.label is Label.COMPUTED and any("PIVOT" in note for note in now.notes)


def test_a_model_that_reads_itself_is_not_walked_in_circles(built: Shop) -> None:
    built.run("create table ledger as select order_id, amount from fct_orders")
    [answer] = ask(built, "ledger", "order_id = 1")
    own = [w for w in answer.witnesses if w.relation == "model.shop.ledger"]
    assert [w.why for w in own] == [None]
    assert ("source.shop.raw.raw_orders", "raw_orders[0]") in sources_of(answer)
    assert any("add to itself" in note for note in answer.notes)


def test_keys_with_signs_of_the_syntax_are_walked_through(built: Shop) -> None:
    [answer] = ask(built, "over_labels", "label = 'gold|10]'")
    assert sources_of(answer) == {
        ("source.shop.raw.raw_orders", "raw_orders[0]"),
        ("source.shop.raw.raw_orders", "raw_orders[1]"),
        ("source.shop.raw.raw_customers", "raw_customers[0]"),
    }


def test_quoted_names_keep_their_spelling_and_are_walked_through(built: Shop) -> None:
    [answer] = ask(built, "over_quoted", "\"A B\" = '~'", replace(TO_SOURCES, cells=True))
    assert answer.row == {"A B": "~", "N n": 2, "top": None}
    assert [w.why.label for w in answer.witnesses if w.why] == [Label.REPRODUCED] * 2
    assert sources_of(answer) == {
        ("source.shop.raw.raw_quoted", "raw_quoted[2]"),
        ("source.shop.raw.raw_quoted", "raw_quoted[3]"),
    }
    [row] = ask(built, "quoted", '"quo""te" = 6', Settings(cells=True))
    assert list(row.witnesses[0].values) == ["Order", "a b", 'quo"te', "f"]
    assert row.cells[0].sources == (("source.shop.raw.raw_quoted", "raw_quoted[1]", "Order"),)


def test_equal_stored_rows_are_one_answer_with_how_many_there_are(built: Shop) -> None:
    [answer] = ask(built, "quoted", '"Order" is null', Settings())
    assert (answer.label, answer.multiplicity, len(answer.witnesses)) == (Label.REPRODUCED, 2, 2)


def test_an_aggregate_of_an_empty_table_has_no_witness(built: Shop) -> None:
    assert ask(built, "nothing", "true") == []
    [answer] = ask(built, "of_nothing", "n = 0")
    assert (answer.label, answer.counts, answer.witnesses) == (Label.REPRODUCED, {}, [])


def test_equal_rows_without_a_key_are_fetched_once_with_how_many_there_are(built: Shop) -> None:
    built.run("create view many as select 'a' as letter from range(50000)")
    relation = BaseTable("many", {"letter": "VARCHAR"})
    prepared = prepare("select letter from many", "duckdb", NamedRelations({("many",): relation}))
    [base] = prepared.bases.values()
    connection = DuckDb(built.connection)
    token = Token("many", ("a",))
    found = fetch(connection, base, identity_of(base, "duckdb"), [token])
    assert found == {token: ({"letter": "a"}, {}, 50_000)}


def test_a_python_model_that_is_asked_for_is_refused(built: Shop) -> None:
    [answer] = ask(built, "python_scores", "customer_id = 10")
    assert answer.label is Label.REFUSED


def test_how_gives_the_polynomial_and_the_terms_of_aggregates(built: Shop) -> None:
    [answer] = ask(built, "by_customer", "customer_id = 10", Settings(how=True))
    assert str(answer.polynomial) == "@g1[10]"
    assert {k: str(p) for k, p in answer.gates.items()} == {
        "@g1[10]": "(fct_orders[1] + fct_orders[2])"
    }
    terms = {claim.column: claim for claim in answer.terms}
    assert terms["amount"].function == "sum"
    assert sorted(value for value, _ in terms["amount"].terms) == [10, 14]
    assert answer.derivations == 2


def test_an_answer_is_read_in_every_semiring_and_in_one_s_own(built: Shop) -> None:
    [answer] = ask(built, "by_customer", "customer_id = 10", Settings(how=True))
    row = json.loads(json.dumps(answer.to_dict()))
    polynomial = parse(row["polynomial"])
    gates = {parse(token): parse(text) for token, text in row["gates"].items()}
    assert all(isinstance(token, Token) for token in gates)
    first, second = Token("fct_orders", ("1",)), Token("fct_orders", ("2",))

    def read(semiring: Semiring[Any], value: Callable[[Token], Any]) -> Any:
        return evaluate(polynomial, semiring, value, gates)  # type: ignore[arg-type]

    assert set(NAMED) == {"counting", "boolean", "tropical", "security", "why"}
    assert read(NAMED["counting"], lambda _: 1) == row["derivations"] == 2
    assert read(NAMED["boolean"], lambda token: token != first) is True
    assert read(NAMED["boolean"], lambda token: token not in (first, second)) is False
    assert read(NAMED["tropical"], {first: 3.0, second: 5.0}.__getitem__) == 3.0
    assert read(NAMED["security"], {first: 2.0, second: 1.0}.__getitem__) == 1.0
    sets = read(NAMED["why"], lambda token: frozenset({frozenset({token})}))
    assert sets == {frozenset({first}), frozenset({second})}
    trust = Semiring(0.0, 1.0, max, lambda a, b: a * b)
    assert read(trust, {first: 0.5, second: 0.9}.__getitem__) == 0.9


def test_cells_name_the_source_of_a_copied_value(built: Shop) -> None:
    [answer] = ask(built, "fct_orders", "order_id = 3", Settings(cells=True))
    claims = {claim.column: claim.sources for claim in answer.cells}
    assert claims["tier"] == (("source.shop.raw.raw_customers", "raw_customers[1]", "tier"),)
    assert "amount" not in claims


def test_many_derivations_give_counts_a_sample_and_the_sql(built: Shop) -> None:
    built.run("insert into raw_orders select 100 + i, 10, date '2024-01-01', 1 from range(50) t(i)")
    built.build()
    [answer] = ask(built, "by_customer", "customer_id = 10", Settings(most=20, sample=5))
    assert answer.derivations == 52
    assert answer.truncated and len(answer.witnesses) == 5 and answer.sql
    [everything] = ask(built, "by_customer", "customer_id = 10", Settings(most=None))
    assert len(everything.witnesses) == 52 and not everything.truncated
    [counted] = ask(built, "by_customer", "customer_id = 10", Settings(counts_only=True))
    assert counted.counts == {"model.shop.fct_orders": 52} and not counted.witnesses


def test_no_row_gives_no_answer(built: Shop) -> None:
    assert ask(built, "fct_orders", "order_id = 99") == []


def test_a_bad_condition_is_refused(built: Shop) -> None:
    with pytest.raises(Refusal):
        ask(built, "fct_orders", "order_id in (select 1)")


def test_nothing_is_created(built: Shop) -> None:
    before = built.run("select table_name from information_schema.tables order by 1")
    ask(built, "top", "true", replace(TO_SOURCES, how=True, cells=True))
    assert built.run("select table_name from information_schema.tables order by 1") == before


def test_a_query_that_takes_too_long_is_stopped(built: Shop) -> None:
    from sqlglot import parse_one

    slow = DuckDb(built.connection, timeout=0.2)
    with pytest.raises(QueryFailed):
        slow.rows(parse_one("select sum(a.i * b.i) from range(100000) a(i), range(100000) b(i)"))
