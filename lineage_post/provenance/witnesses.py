"""Fetches witness rows: their key, the columns that matter, and how many rows have this key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_post.provenance.building import aliased, column, derived, number, text
from lineage_post.provenance.connection import Connection
from lineage_post.provenance.expansion import is_any
from lineage_post.provenance.identity import (
    Identity,
    KeyKind,
    is_bare,
    key_column,
    row_token,
)
from lineage_post.provenance.polynomial import Reader, Token, written_token
from lineage_post.provenance.prepared import Base

#: So many rows are asked for in one statement.
BATCH = 5_000
#: (key, values, multiplicity)
Found = tuple[dict[str, Any], dict[str, Any], int]


def fetch(
    connection: Connection,
    base: Base,
    identity: Identity,
    tokens: Sequence[Token],
    *,
    every_column: bool = False,
) -> dict[Token, Found]:
    """The rows that ``tokens`` of ``base`` stand for; tokens whose row is gone are left out.

    ``every_column``: all columns of the relation, not only those the query reads.
    """
    names = list(base.types) if every_column else list(base.read)
    names = [name for name in names if name not in identity.columns]
    found: dict[Token, Found] = {}
    for start in range(0, len(tokens), BATCH):
        wanted = tokens[start : start + BATCH]
        statement = _statement(connection.dialect, base, identity, names, wanted)
        for written, times, *row in connection.rows(statement):
            width = len(identity.columns)
            key = dict(zip(map(base.spelled, identity.columns), row, strict=False))
            values = dict(zip(map(base.spelled, names), row[width:], strict=True))
            found[Reader(str(written)).token()] = (key, values, int(times))
    return found


def _statement(
    dialect: str, base: Base, identity: Identity, names: Sequence[str], wanted: Sequence[Token]
) -> exp.Select:
    token = row_token(base, identity, "_b", dialect)
    keys = [key_column(base, identity, name, "_b") for name in identity.columns]
    outputs = [aliased(key.copy(), f"_k{n}") for n, (key, _) in enumerate(keys, 1)]
    for n, name in enumerate(names, 1):
        quoted = exp.to_identifier(name, quoted=True)
        read = exp.Column(this=quoted, table=exp.to_identifier("_b"))
        outputs.append(aliased(read, f"_v{n}"))
    table = base.table.copy()
    table.set("alias", exp.TableAlias(this=exp.to_identifier("_b")))
    select = exp.select(*outputs).from_(table)
    if identity.kind is KeyKind.HASH:
        bare = [is_bare(None)]
        listed = [text(written_token(base.label, t.key, bare)) for t in wanted]
        select = select.where(exp.In(this=token.copy(), expressions=listed))
    else:
        types = [data_type for _, data_type in keys]
        columns = [key for key, _ in keys]
        select = select.where(is_any(columns, types, [t.key for t in wanted], dialect))
    if identity.kind is KeyKind.ROW_ID:
        one = aliased(number(1), "_n")
        return select.select(aliased(token, "_t"), one, *outputs, append=False)
    return _counted(select, token, [item.alias for item in outputs])


def _counted(select: exp.Select, token: exp.Expr, names: Sequence[str]) -> exp.Select:
    """One row of each token, with how many there are: a million equal rows come as one."""
    by = {"partition_by": [token.copy()]}
    times = exp.Window(this=exp.Count(this=exp.Star()), **by)
    first = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[token.copy()]), **by)
    told = select.select(aliased(token, "_t"), aliased(times, "_n"), aliased(first, "_i"))
    kept = exp.select(*(column(name, "_w") for name in ("_t", "_n", *names)))
    is_first = exp.EQ(this=column("_i", "_w"), expression=number(1))
    return kept.from_(derived(told, "_w")).where(is_first)
