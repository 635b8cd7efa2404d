"""What the hook asks of the warehouse, and what it runs there: through dbt's adapter."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Any

from lineage_post.artifacts import CatalogTable
from lineage_post.errors import LineageError
from lineage_post.publish.load import Literals
from lineage_post.publish.prior import CURRENT, PURGED, REMOVED, Prior, PriorRefresh
from lineage_post.publish.tables import TABLES, Row, Rows

_PRIOR_COLUMNS = (
    "node",
    "producer",
    "run_id",
    "refreshed_at",
    "status",
    "definition_version",
    "fingerprint",
    "last_known_fingerprint",
    "state",
)
#: Here each statement stands as soon as it has run.
WITHOUT_TRANSACTIONS = frozenset(
    {"athena", "bigquery", "clickhouse", "databricks", "glue", "hive", "impala", "spark", "trino"}
)
#: Values in one IN list.
_MOST_VALUES = 500


class Warehouse:
    """The base tables of one project, read and written on dbt's current connection.

    ``missing`` are the base tables that do not exist yet, ``disabled`` those without a model.
    """

    def __init__(self, adapter: Any, manifest: Any, timestamp_type: str) -> None:
        self.adapter = adapter
        self.literals = Literals(adapter.type(), timestamp_type)
        self.relations: dict[str, Any] = {}
        for table in TABLES:
            node = manifest.nodes.get(f"model.lineage_post.{table}")
            relation = node and adapter.get_relation(node.database, node.schema, node.alias)
            if relation is not None:
                self.relations[table] = relation
        self.disabled = tuple(t for t in TABLES if f"model.lineage_post.{t}" not in manifest.nodes)
        self.missing = tuple(table for table in TABLES if table not in self.relations)

    def require_tables(self) -> None:
        """Raises LineageError where a base table is missing."""
        if self.disabled:
            raise LineageError(
                f"the models {', '.join(self.disabled)} are disabled",
                hint="Enable them, or set `enabled: false` in the lineage_post vars",
            )
        views = [t for t, relation in self.relations.items() if str(relation.type) == "view"]
        if views:
            raise LineageError(
                f"{', '.join(views)} must be tables",
                hint="Set `models: lineage_post: base: +materialized: incremental`"
                " in dbt_project.yml and run dbt again",
            )
        if self.missing:
            raise LineageError(
                f"there is no table {', '.join(self.missing)}",
                hint="Run `dbt run --select package:lineage_post` once",
            )

    def prior(self, rows: Rows) -> Prior:
        """What is there already of these rows, and the last refresh of every node."""
        refreshes = tuple(self._last_refreshes())
        have = {r.fingerprint for r in refreshes if r.fingerprint}
        wanted = {r.fingerprint for r in rows.refreshes if r.fingerprint}
        if refreshes:
            have |= self._committed_fingerprints(wanted - have)
        versions = {(r.node, r.definition_version or "") for r in refreshes}
        asked = {(n.node, n.definition_version) for n in rows.nodes} - versions
        return Prior(
            refreshes=refreshes,
            fingerprints=frozenset(have),
            definitions=frozenset(versions | self._committed_definitions(asked)),
            keys=frozenset(self._keys({r.run_id for r in rows.refreshes})),
        )

    def recorded_types(self, nodes: Collection[str]) -> dict[str, dict[str, str | None]]:
        """The column types that were last recorded of nodes, where any were."""
        if "lineage_refreshes" not in self.relations or "lineage_columns" not in self.relations:
            return {}
        found: dict[str, dict[str, str | None]] = {}
        for chunk in _chunks(sorted(nodes), _MOST_VALUES):
            listed = ", ".join(map(self.literals.text, chunk))
            for node, column, data_type in self.query(
                "select columns_of.node, columns_of.column_name, columns_of.data_type from ("
                "select fingerprint, row_number() over ("
                "partition by node order by refreshed_at desc, run_id desc) as age"
                f" from {self.relations['lineage_refreshes']}"
                " where status in ('success', 'derived') and producer = 'execution'"
                f" and node in ({listed})) as refreshes"
                f" inner join {self.relations['lineage_columns']} as columns_of"
                " on columns_of.fingerprint = refreshes.fingerprint where refreshes.age = 1"
            ):
                found.setdefault(node, {})[column] = data_type
        return found

    def _last_refreshes(self) -> Iterator[PriorRefresh]:
        """Of each node and producer the last refresh that stands, or that took the node out."""
        columns = ", ".join(f"refreshes.{c}" for c in _PRIOR_COLUMNS)
        statuses = ", ".join(map(self.literals.text, sorted(CURRENT | {REMOVED})))
        for row in self.query(
            f"select {', '.join(_PRIOR_COLUMNS)} from ("
            f"select {columns}, row_number() over (partition by refreshes.node, refreshes.producer"
            " order by refreshes.refreshed_at desc, refreshes.run_id desc) as age"
            f" from {self._not_purged()}"
            f" and refreshes.status in ({statuses})"
            ") as ordered where age = 1"
        ):
            values = dict(zip(_PRIOR_COLUMNS, row, strict=True))
            yield PriorRefresh(**{**values, "refreshed_at": _naive(values["refreshed_at"])})

    def _not_purged(self) -> str:
        """The refreshes that were recorded since their producer's claims on the node were retired,
        as the rest of a statement after ``from``, open for further conditions."""
        table = self.relations["lineage_refreshes"]
        return (
            f"{table} as refreshes left join (select node, producer,"
            f" max(coalesce(recorded_at, refreshed_at)) as purged_at from {table}"
            f" where status = {self.literals.text(PURGED)} group by node, producer) as purges"
            " on refreshes.node = purges.node and refreshes.producer = purges.producer where"
            " (purges.purged_at is null"
            " or coalesce(refreshes.recorded_at, refreshes.refreshed_at) > purges.purged_at)"
        )

    def _committed_fingerprints(self, asked: Collection[str]) -> set[str]:
        return {row[0] for row in self._matching("lineage_refreshes", "fingerprint", asked)}

    def _committed_definitions(self, asked: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        versions = {version for _, version in asked}
        key = "node, definition_version"
        found = self._matching("lineage_nodes", key, versions, "definition_version")
        return {(row[0], row[1]) for row in found}

    def recorded_keys(self, run_ids: Collection[str]) -> set[tuple[str, str, str]]:
        """The keys (run_id, node, producer) of the refreshes of these runs that stand."""
        return set(self._keys(run_ids))

    def _keys(self, run_ids: Collection[str]) -> Iterator[tuple[str, str, str]]:
        """The keys of the refreshes of these runs that are there: a retired one can come again."""
        for chunk in _chunks(sorted(run_ids), _MOST_VALUES):
            listed = ", ".join(map(self.literals.text, chunk))
            for row in self.query(
                "select distinct refreshes.run_id, refreshes.node, refreshes.producer"
                f" from {self._not_purged()} and refreshes.run_id in ({listed})"
            ):
                yield row[0], row[1], row[2]

    def columns(self, table: str, row_class: type[Row]) -> tuple[str, ...]:
        """The columns of a base table that a load can fill: a table that was made by an earlier
        version lacks what came since, until dbt builds the package's models again."""
        there = {
            c.name.lower() for c in self.adapter.get_columns_in_relation(self.relations[table])
        }
        return tuple(column for column in row_class._fields if column in there)

    def _matching(
        self,
        table: str,
        columns: str,
        values: Collection[str],
        column: str | None = None,
    ) -> Iterator[Sequence[Any]]:
        for chunk in _chunks(sorted(values), _MOST_VALUES):
            listed = ", ".join(map(self.literals.text, chunk))
            yield from self.query(
                f"select distinct {columns} from {self.relations[table]}"
                f" where {column or columns} in ({listed})"
            )

    def query(self, sql: str) -> Iterator[Sequence[Any]]:
        """The rows of a query."""
        _, table = self.adapter.execute(sql, auto_begin=False, fetch=True)
        return iter([tuple(row.values()) for row in table.rows])

    def begin(self) -> None:
        """Opens the transaction of a load, where the warehouse has any."""
        connections = self.adapter.connections
        connection = connections.get_thread_connection()
        if not connection.transaction_open:
            connections.begin()
        has_autocommit = getattr(connection.credentials, "autocommit", False)
        if self.adapter.type() == "postgres" and not has_autocommit:
            # psycopg2 takes its first transaction for open still: dbt has ended that before the
            # hook, in words that the driver does not see, so that it begins no other.
            self.adapter.add_query("begin", auto_begin=False)

    def execute(self, sql: str, parameter: str | None = None) -> None:
        """Runs a statement inside the open transaction; a long one is not logged whole."""
        add_query = getattr(self.adapter, "add_query", None)
        if add_query is None:
            self.adapter.execute(sql, auto_begin=True, fetch=False)
        else:
            bindings = None if parameter is None else [parameter]
            add_query(sql, auto_begin=True, bindings=bindings, abridge_sql_log=True)

    def commit(self) -> None:
        """Commits, where a transaction is open."""
        connection = self.adapter.connections.get_if_exists()
        if connection is not None and getattr(connection, "transaction_open", False):
            self.adapter.commit_if_has_connection()

    def rollback(self) -> None:
        """Rolls back, where a transaction is open."""
        self.adapter.connections.rollback_if_open()

    @property
    def has_transactions(self) -> bool:
        """Whether what was not committed is gone after a failure."""
        return self.adapter.type() not in WITHOUT_TRANSACTIONS

    def reopen(self) -> None:
        """After a failure: back to a connection that works, with nothing open."""
        connections = self.adapter.connections
        connection = connections.get_if_exists()
        if connection is None or self.adapter.type() == "duckdb":
            # To close an in-memory database would be to lose it.
            self.rollback()
            return
        # It may not take a rollback any more; then it is thrown away.
        with suppress(Exception):
            connections.release()
        connections.set_connection_name(connection.name)


def columns_in_warehouse(adapter: Any, nodes: Iterable[Any]) -> dict[str, CatalogTable]:
    """The columns of relations, as the warehouse reports them; absent ones are left out."""
    named = {n.unique_id: n for n in nodes if _is_table_name(n)}
    found: dict[str, CatalogTable] = {}
    if named:
        wanted = [adapter.Relation.create_from(adapter.config, node) for node in named.values()]
        schemas = frozenset((r.database, r.schema) for r in wanted)
        table, _ = adapter.get_filtered_catalog(list(named.values()), schemas, set(wanted))
        columns = _columns_by_name(dict(zip(table.column_names, row, strict=True)) for row in table)
        for unique_id, relation in zip(named, wanted, strict=True):
            types = columns.get(_key(relation.database, relation.schema, relation.identifier))
            if types:
                found[unique_id] = CatalogTable(unique_id, types)
    for node in nodes:
        if node.unique_id not in named and adapter.type() == "duckdb":
            found.update(_columns_of_file(adapter, node))
    return found


def _columns_by_name(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], dict[str, str]]:
    listed: dict[tuple[str, ...], list[tuple[int, str, str]]] = {}
    for row in rows:
        key = _key(row["table_database"], row["table_schema"], row["table_name"])
        column = (int(row["column_index"]), str(row["column_name"]), str(row["column_type"]))
        listed.setdefault(key, []).append(column)
    return {key: {n: t for _, n, t in sorted(columns)} for key, columns in listed.items()}


def _columns_of_file(adapter: Any, node: Any) -> dict[str, CatalogTable]:
    """dbt-duckdb lets a source stand for a file or a function; asking it is the only way."""
    name = node.relation_name
    if not name:
        return {}
    try:
        columns = adapter.get_column_schema_from_query(f"select * from {name} limit 0")
    except Exception:
        return {}
    types = {str(column.name): str(column.dtype) for column in columns}
    return {node.unique_id: CatalogTable(node.unique_id, types)} if types else {}


def _is_table_name(node: Any) -> bool:
    name = node.relation_name
    return bool(name) and "(" not in name and not name.startswith("'")


def _key(*parts: Any) -> tuple[str, ...]:
    return tuple(str(part or "").casefold() for part in parts)


def _naive(value: Any) -> datetime:
    found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return found.replace(tzinfo=None)


def _chunks(values: Sequence[str], size: int) -> Iterator[list[str]]:
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk
