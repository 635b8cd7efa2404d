"""A small project whose tables are built here, so that a test can let them go stale as it likes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from lineage_post.artifacts import Node, Project, RelationName
from lineage_post.lineage import Lineage

SOURCES = {
    "raw_orders": (
        "select * from (values (1, 10, date '2024-01-01', 5.0), (2, 10, date '2024-01-02', 7.0),"
        " (3, 20, date '2024-01-02', 9.0), (4, 30, date '2024-01-03', 2.5))"
        " t(order_id, customer_id, placed_on, amount)"
    ),
    "raw_customers": (
        "select * from (values (10, 'Ada', 'gold'), (20, 'Bob', 'new'), (30, 'Cy', 'new'))"
        " t(customer_id, name, tier)"
    ),
    "raw_quoted": (
        "select * from (values (1, 'x', 5, 0.5::double), (2, 'y]|', 6, 1.5), (null, '~', 7, null),"
        ' (null, \'~\', 7, null)) t("Order", "a b", "quo""te", f)'
    ),
}
#: name -> (materialized, key, SQL)
MODELS: Mapping[str, tuple[str, str | None, str]] = {
    "stg_orders": ("view", None, "select * from raw_orders where amount > 0"),
    "fct_orders": (
        "incremental",
        "order_id",
        "select o.order_id, o.customer_id, o.placed_on, o.amount * 2 as amount, c.tier,"
        " current_timestamp as loaded_at"
        " from stg_orders o left join raw_customers c using (customer_id)",
    ),
    "snap_customers": ("snapshot", "customer_id", "select * from raw_customers"),
    "by_customer": (
        "table",
        "customer_id",
        "select customer_id, count(*) as orders, sum(amount) as amount from fct_orders group by 1",
    ),
    "python_scores": ("table", "customer_id", ""),
    "top": (
        "table",
        None,
        "select s.name, b.amount, p.score from by_customer b"
        " join snap_customers s on s.customer_id = b.customer_id and s.dbt_valid_to is null"
        " join python_scores p on p.customer_id = b.customer_id",
    ),
    "tiers": (
        "view",
        None,
        "select * from (pivot (select customer_id, tier, amount from fct_orders)"
        " on tier in ('gold', 'new') using sum(amount) group by customer_id)",
    ),
    "over_tiers": (
        "table",
        "customer_id",
        "select t.customer_id, t.gold, b.orders from tiers t"
        " join by_customer b on b.customer_id = t.customer_id",
    ),
    "labels": (
        "table",
        "label",
        "select tier || '|' || customer_id || ']' as label, count(*) as n from fct_orders"
        " group by 1",
    ),
    "over_labels": ("table", None, "select label, n from labels"),
    "quoted": ("table", None, 'select "Order", "a b", "quo""te", f from raw_quoted'),
    "over_quoted": (
        "table",
        None,
        'select "a b" as "A B", count(*) as "N n", max(f) as top from quoted group by 1',
    ),
    "nothing": ("table", None, "select * from quoted where false"),
    "of_nothing": ("table", None, "select count(*) as n, max(f) as top from nothing"),
    # Compiled so that it reads itself, whatever is asked for.
    "ledger": (
        "incremental",
        "order_id",
        "select order_id, amount from fct_orders union all select order_id, amount from ledger",
    ),
}
ORDER = (
    "stg_orders",
    "fct_orders",
    "snap_customers",
    "by_customer",
    "python_scores",
    "top",
    "tiers",
    "over_tiers",
    "labels",
    "over_labels",
    "quoted",
    "over_quoted",
    "nothing",
    "of_nothing",
)


@dataclass
class Shop:
    """The project and its database."""

    connection: duckdb.DuckDBPyConnection
    lineage: Lineage

    def id_of(self, name: str) -> str:
        return next(n for n in self.lineage.project.nodes if n.endswith(f".{name}"))

    def run(self, sql: str) -> list[Any]:
        return self.connection.execute(sql).fetchall()

    def build(self, *names: str) -> None:
        """Build models anew; all of them, in order, where none is named."""
        for name in names or ORDER:
            materialized, _, sql = MODELS[name]
            if name == "python_scores":
                sql = "select customer_id, customer_id / 10 as score from by_customer"
            if materialized == "snapshot":
                meta = "date '2024-01-01' as dbt_valid_from, cast(null as date) as dbt_valid_to"
                sql = f"select *, {meta} from ({sql})"
            kind = "view" if materialized == "view" else "table"
            self.run(f"create or replace {kind} {name} as {sql}")


def shop() -> Shop:
    """A shop that is fully built."""
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    for name, sql in SOURCES.items():
        connection.execute(f"create table {name} as {sql}")
    built = Shop(connection, Lineage(_project(), {}))
    built.build()
    return built


def _project() -> Project:
    nodes = [_node("source.shop.raw", name, "source", None, None, None) for name in SOURCES]
    for name, (materialized, key, sql) in MODELS.items():
        kind = "snapshot" if materialized == "snapshot" else "model"
        nodes.append(_node(f"{kind}.shop", name, kind, materialized, key, sql))
    by_id = {node.unique_id: node for node in nodes}
    return Project("shop", "duckdb", by_id)


def _node(
    prefix: str, name: str, kind: str, materialized: str | None, key: str | None, sql: str | None
) -> Node:
    parents = [
        *(f"source.shop.raw.{other}" for other in SOURCES if sql and other in sql),
        *(f"model.shop.{other}" for other in MODELS if sql and other in sql),
    ]
    return Node(
        unique_id=f"{prefix}.{name}",
        name=name,
        resource_type=kind,
        package_name="shop",
        path=f"models/{name}.sql",
        relation=RelationName("memory", "main", name),
        materialized=materialized,
        language="python" if name.startswith("python") else "sql",
        compiled_code=_full_names(sql) if sql else None,
        depends_on=tuple(p.replace("model.shop.snap", "snapshot.shop.snap") for p in parents),
        config={"unique_key": key} if key else {},
    )


def _full_names(sql: str) -> str:
    for name in (*SOURCES, *MODELS):
        for before in ("from", "join"):
            sql = sql.replace(f"{before} {name}", f'{before} "memory"."main"."{name}"')
    return sql
