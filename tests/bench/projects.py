"""Projects made by a rule: layered models of 20-40 columns with CTE chains, unions and windows."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATABASE, SCHEMA = "dev", "main"
TIME = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Table:
    """A source or a model: its id, its name, its columns and, for a model, its SQL."""

    unique_id: str
    name: str
    columns: tuple[str, ...]
    sql: str | None = None
    parents: tuple[str, ...] = ()

    @property
    def relation(self) -> str:
        return f'"{DATABASE}"."{SCHEMA}"."{self.name}"'

    @property
    def parts(self) -> tuple[str, str, str]:
        return DATABASE, SCHEMA, self.name


def make_tables(models: int, seed: int = 7) -> list[Table]:
    """``models`` models over a tenth as many sources, parents first; the same for the same seed."""
    rng = random.Random(seed)
    tables = [_source(i, rng) for i in range(max(models // 10, 5))]
    for i in range(models):
        tables.append(_model(i, tables, rng))
    return tables


def write_project(folder: Path, models: int, changed: int | None = None) -> Path:
    """Writes manifest.json and catalog.json; ``changed`` is a model whose SQL differs."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = make_tables(models)
    nodes = {t.unique_id: _node(t, changed) for t in tables if t.sql}
    sources = {t.unique_id: _source_node(t) for t in tables if not t.sql}
    manifest = {
        "metadata": _metadata("manifest/v12"),
        "nodes": nodes,
        "sources": sources,
        "parent_map": {t.unique_id: list(t.parents) for t in tables},
        "child_map": _children(tables),
    }
    empty = ("macros", "docs", "exposures", "metrics", "groups", "selectors", "disabled")
    manifest.update({name: {} for name in (*empty, "semantic_models", "saved_queries")})
    _write(folder / "manifest.json", manifest)
    _write(folder / "catalog.json", _catalog(tables))
    return folder


def _source(i: int, rng: random.Random) -> Table:
    columns = ["id", "account_id", "updated_at", *(f"raw_{j}" for j in range(rng.randint(17, 32)))]
    return Table(f"source.bench.raw.raw_{i}", f"raw_{i}", tuple(columns))


def _model(i: int, tables: list[Table], rng: random.Random) -> Table:
    recent = tables[-max(len(tables) // 4, 5) :]
    left, right = rng.sample(recent, 2)
    make = rng.choice((_starred, _joined, _joined, _union, _windowed, _aggregated))
    sql, columns = make(left, right, rng, f"m{i}")
    parents = tuple(t.unique_id for t in (left, right) if t.relation in sql)
    return Table(f"model.bench.model_{i}", f"model_{i}", columns, sql, parents)


def _picked(table: Table, rng: random.Random, count: int) -> list[str]:
    others = [c for c in table.columns if c not in ("id", "account_id", "updated_at")]
    return sorted(rng.sample(others, min(count, len(others))))


def _keys() -> list[str]:
    return ["id", "account_id", "updated_at"]


def _starred(
    left: Table, right: Table, rng: random.Random, tag: str
) -> tuple[str, tuple[str, ...]]:
    kept = _picked(left, rng, 24)
    a, b = kept[0], kept[-1]
    new = [f"{tag}_clean", f"{tag}_recent"]
    sql = f"""with source as (

    select * from {left.relation}

),

narrowed as (

    select {", ".join([*_keys(), *kept])}
    from source
    where updated_at >= '2025-01-01'

),

cleaned as (

    select
        *,
        coalesce(cast({a} as varchar), 'none') as {tag}_clean,
        case when {b} is null then 0 else 1 end as {tag}_recent
    from narrowed

)

select * from cleaned"""
    return sql, (*_keys(), *kept, *new)


def _joined(left: Table, right: Table, rng: random.Random, tag: str) -> tuple[str, tuple[str, ...]]:
    ours, theirs = _picked(left, rng, 14), _picked(right, rng, 12)
    lines = [f"        l.{c} as {c}" for c in [*_keys(), *ours]]
    lines += [f"        coalesce(r.{c}, 0) as {tag}_r{i}" for i, c in enumerate(theirs)]
    lines.append(f"        l.{ours[0]} || '-' || r.{theirs[0]} as {tag}_key")
    names = [*_keys(), *ours, *(f"{tag}_r{i}" for i in range(len(theirs))), f"{tag}_key"]
    sql = f"""with l as (

    select * from {left.relation}

),

r as (

    select * from {right.relation}
    where account_id is not null

),

final as (

    select
{("," + chr(10)).join(lines)}
    from l
    left join r
        on l.account_id = r.account_id
        and l.updated_at >= r.updated_at

)

select * from final"""
    return sql, tuple(names)


def _union(left: Table, right: Table, rng: random.Random, tag: str) -> tuple[str, tuple[str, ...]]:
    ours, theirs = _picked(left, rng, 17), _picked(right, rng, 17)
    count = min(len(ours), len(theirs))
    names = [f"{tag}_v{i}" for i in range(count)]

    def arm(table: Table, columns: list[str], label: str) -> str:
        values = [f"    {c} as {n}" for c, n in zip(columns, names, strict=False)]
        lines = [f"    {c}" for c in _keys()] + values + [f"    '{label}' as {tag}_origin"]
        return "select\n" + ",\n".join(lines) + f"\nfrom {table.relation}"

    sql = "\nunion all\n".join([arm(left, ours, "left"), arm(right, theirs, "right")])
    return sql, (*_keys(), *names, f"{tag}_origin")


def _windowed(
    left: Table, right: Table, rng: random.Random, tag: str
) -> tuple[str, tuple[str, ...]]:
    kept = _picked(left, rng, 20)
    sums = [f"{tag}_s{i}" for i in range(4)]
    windows = [
        f"        sum({kept[i]}) over (partition by account_id order by updated_at) as {name}"
        for i, name in enumerate(sums)
    ]
    sql = f"""with ranked as (

    select
        {", ".join([*_keys(), *kept])},
{("," + chr(10)).join(windows)},
        row_number() over (partition by id order by updated_at desc) as version_number
    from {left.relation}

),

latest as (

    select * from ranked where version_number = 1

)

select {", ".join([*_keys(), *kept, *sums])}
from latest"""
    return sql, (*_keys(), *kept, *sums)


def _aggregated(
    left: Table, right: Table, rng: random.Random, tag: str
) -> tuple[str, tuple[str, ...]]:
    kept = _picked(left, rng, 18)
    functions = ("sum", "max", "min", "avg", "count")
    lines = [f"        {functions[i % 5]}({c}) as {tag}_a{i}" for i, c in enumerate(kept)]
    names = [f"{tag}_a{i}" for i in range(len(kept))]
    sql = f"""with grouped as (

    select
        account_id,
        min(id) as id,
        max(updated_at) as updated_at,
{("," + chr(10)).join(lines)}
    from {left.relation}
    group by account_id
    having count(*) > 0

)

select id, account_id, updated_at, {", ".join(names)}
from grouped"""
    return sql, (*_keys(), *names)


def _metadata(schema: str) -> dict[str, Any]:
    return {
        "dbt_schema_version": f"https://schemas.getdbt.com/dbt/{schema}.json",
        "dbt_version": "1.11.16",
        "generated_at": TIME,
        "invocation_id": "00000000-0000-4000-8000-000000000000",
        "project_name": "bench",
        "adapter_type": "duckdb",
        "quoting": {"database": True, "schema": True, "identifier": True, "column": None},
    }


def _common(table: Table, kind: str) -> dict[str, Any]:
    path = f"models/{table.name}.{'sql' if table.sql else 'yml'}"
    return {
        "unique_id": table.unique_id,
        "name": table.name,
        "resource_type": kind,
        "package_name": "bench",
        "path": path,
        "original_file_path": path,
        "fqn": ["bench", table.name],
        "database": DATABASE,
        "schema": SCHEMA,
        "relation_name": table.relation,
        "columns": {},
        "description": "",
        "meta": {},
        "tags": [],
    }


def _node(table: Table, changed: int | None) -> dict[str, Any]:
    sql = table.sql or ""
    if changed is not None and table.name == f"model_{changed}":
        sql = f"select * from (\n{sql}\n) as changed where id > 0"
    digest = hashlib.sha256(sql.encode()).hexdigest()
    return {
        **_common(table, "model"),
        "alias": table.name,
        "raw_code": sql,
        "compiled_code": sql,
        "compiled": True,
        "language": "sql",
        "checksum": {"name": "sha256", "checksum": digest},
        "config": {"materialized": "table", "enabled": True, "meta": {}, "tags": []},
        "depends_on": {"nodes": list(table.parents), "macros": []},
        "refs": [],
        "sources": [],
    }


def _source_node(table: Table) -> dict[str, Any]:
    return {
        **_common(table, "source"),
        "source_name": "raw",
        "identifier": table.name,
        "config": {"enabled": True},
    }


def _children(tables: list[Table]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {table.unique_id: [] for table in tables}
    for table in tables:
        for parent in table.parents:
            children[parent].append(table.unique_id)
    return children


def _catalog(tables: list[Table]) -> dict[str, Any]:
    entries = dict(_catalog_entries(tables))
    nodes = {k: v for k, v in entries.items() if k.startswith("model.")}
    sources = {k: v for k, v in entries.items() if k.startswith("source.")}
    metadata = _metadata("catalog/v1")
    return {"metadata": metadata, "nodes": nodes, "sources": sources, "errors": None}


def _catalog_entries(tables: list[Table]) -> Iterator[tuple[str, dict[str, Any]]]:
    for table in tables:
        names = {"type": "BASE TABLE", "database": DATABASE, "schema": SCHEMA, "name": table.name}
        columns = {
            name: {"type": "BIGINT", "index": i, "name": name, "comment": None}
            for i, name in enumerate(table.columns, 1)
        }
        yield (
            table.unique_id,
            {
                "metadata": {**names, "comment": None, "owner": None},
                "columns": columns,
                "stats": {},
                "unique_id": table.unique_id,
            },
        )


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")
