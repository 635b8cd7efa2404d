"""Fetches witness rows: their key, the columns that matter, and how many rows have this key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from lineage_post.provenance.building import aliased, text
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
from lineage_post.provenance.prepare import Base

#: So many rows are asked for in one statement.
BATCH = 1_000
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
        for row in connection.rows(statement):
            token = Reader(str(row[0])).token()
            width = len(identity.columns)
            key = dict(zip(identity.columns, row[1:], strict=False))
            values = dict(zip(names, row[1 + width :], strict=True))
            earlier = found.get(token)
            found[token] = (key, values, earlier[2] + 1 if earlier else 1)
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
    select = exp.select(aliased(token.copy(), "_t"), *outputs).from_(table)
    if identity.kind is KeyKind.HASH:
        bare = [is_bare(None)]
        listed = [text(written_token(base.label, t.key, bare)) for t in wanted]
        return select.where(exp.In(this=token, expressions=listed))
    types = [data_type for _, data_type in keys]
    columns = [key for key, _ in keys]
    return select.where(is_any(columns, types, [t.key for t in wanted], dialect))
