from __future__ import annotations

from lineage_post.artifacts import CatalogTable, project_from_manifest_dict
from lineage_post.schema import NO_COLUMNS, Columns, Learned, ProjectIndex, static_columns

from .manifests import make_manifest, make_model, make_source


def node_of(resource: dict[str, object]):  # type: ignore[no-untyped-def]
    nodes = project_from_manifest_dict(make_manifest(resource)).nodes
    return next(iter(nodes.values()))


SOURCE = node_of(make_source("orders", {"id": "integer", "total": None}))
TABLE = CatalogTable(SOURCE.unique_id, {"ID": "BIGINT", "total": "DOUBLE", "more": "VARCHAR"})


def test_declared_columns_are_an_incomplete_list() -> None:
    columns = static_columns(SOURCE, None)
    assert dict(columns.types) == {"id": "integer", "total": None}
    assert (columns.learned, columns.complete) == (Learned.DECLARED, False)


def test_a_catalog_is_complete_and_goes_before_what_is_declared() -> None:
    columns = static_columns(SOURCE, TABLE)
    assert list(columns.types) == ["ID", "total", "more"]
    assert (columns.learned, columns.complete) == (Learned.CATALOG, True)


def test_a_seed_s_header_goes_first_and_takes_types_from_the_catalog_then_from_yaml() -> None:
    columns = static_columns(SOURCE, None, ["id", "added"])
    assert dict(columns.types) == {"id": "integer", "added": None}
    columns = static_columns(SOURCE, TABLE, ["id", "added"])
    assert dict(columns.types) == {"id": "BIGINT", "added": None}
    assert (columns.learned, columns.complete) == (Learned.SEED, True)


def test_a_relation_that_nothing_describes_has_no_columns() -> None:
    assert static_columns(node_of(make_source("x")), None) is NO_COLUMNS


def test_declared_outputs_of_a_contract_are_columns() -> None:
    meta = {"lineage": {"inputs": [], "outputs": {"score": "double"}}}
    model = node_of(make_model("m", None, meta=meta))
    assert dict(static_columns(model, None).types) == {"score": "double"}


def test_the_digest_tells_names_types_order_and_completeness() -> None:
    base = Columns({"a": "int", "b": None}, Learned.CATALOG, True)
    same = Columns({"a": "int", "b": None}, Learned.TRACED, True)
    others = [
        Columns({"b": None, "a": "int"}, Learned.CATALOG, True),
        Columns({"a": "text", "b": None}, Learned.CATALOG, True),
        Columns({"a": "int"}, Learned.CATALOG, True),
        Columns({"a": "int", "b": None}, Learned.CATALOG, False),
    ]
    assert base.digest == same.digest
    assert len({base.digest, *(c.digest for c in others)}) == 5


def test_columns_survive_their_stored_form() -> None:
    columns = Columns({"é \U0001f600": "int", "x": None}, Learned.TRACED, True)
    back = Columns.from_json(columns.to_json(), columns.digest, Learned.TRACED, True)
    assert back.types == columns.types and list(back.types) == list(columns.types)


def test_an_index_shows_the_columns_it_is_given_last() -> None:
    index = ProjectIndex("duckdb", [(("dev", "main", "a"), "model.shop.a")])
    assert index.digest("model.shop.a") == ""
    index.show("model.shop.a", Columns({"x": None}, Learned.TRACED, True))
    index.show("model.shop.a", Columns({"y": "int"}, Learned.TRACED, True))
    entry = index.find(("dev", "main", "a"))
    assert entry is not None and entry.columns == ("y",) and entry.is_complete
