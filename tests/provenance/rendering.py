"""Queries rewritten in the dialect of a warehouse that is not here, judged by parsing them back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError

from lineage_post.provenance.algebra import Counts
from lineage_post.provenance.dialects import put_right
from lineage_post.provenance.prepare import prepare
from lineage_post.provenance.prepared import Prepared
from lineage_post.provenance.relations import NamedRelations, tables
from lineage_post.provenance.rewriter import Rewriter
from lineage_post.trace.spaces import readable

DIALECTS = ("snowflake", "bigquery", "spark", "databricks", "redshift", "trino")
#: What a statement is made of; none may be lost on the way.
PARTS = (
    exp.Select, exp.SetOperation, exp.CTE, exp.Subquery, exp.Table, exp.Join, exp.Where,
    exp.Group, exp.Having, exp.Window, exp.Column, exp.Case, exp.Limit, exp.Ordered,
)  # fmt: skip
#: Aggregates that join texts.
JOINING = re.compile(r"\b(LISTAGG|STRING_AGG)\(")
Schema = Mapping[str, Mapping[str, str | None]]


def faults(sql: str, dialect: str, known: NamedRelations) -> Iterator[str]:
    """What is wrong with DuckDB's ``sql`` when it is rewritten in ``dialect``: nothing, at best.

    The query is translated, rewritten there, written, and parsed back: the tree must have the same
    parts, and be the same tree when it is written and parsed once more. Nothing may be written that
    the dialect does not support, unless the query itself has it. ``known``: see ``relations``.
    """
    there = _translated(sql, dialect)
    original = sqlglot.parse_one(there, dialect=dialect)
    for what, statement in _statements(prepare(there, dialect, known)):
        built = put_right(statement.copy(), dialect)
        written = built.sql(dialect, comments=False)
        back = sqlglot.parse_one(written, dialect=dialect)
        if _parts(back) != _parts(built):
            lost, more = _parts(built) - _parts(back), _parts(back) - _parts(built)
            yield f"{what}: lost {dict(lost)}, gained {dict(more)}: {written}"
        # sqlglot takes an ORDER BY from deep inside of these when it writes what it has parsed.
        once = sqlglot.parse_one(JOINING.sub("joined(", written), dialect=dialect)
        if sqlglot.parse_one(once.sql(dialect, comments=False), dialect=dialect) != once:
            yield f"{what}: another tree when parsed twice: {written}"
        if _supported(original, dialect) and not _supported(built, dialect):
            yield f"{what}: unsupported: {written}"


def _translated(sql: str, dialect: str) -> str:
    query = sqlglot.parse_one(readable(sql, "duckdb"), dialect="duckdb")
    for name in query.find_all(exp.Identifier):
        name.set("this", _folded(name.name, dialect))
    return query.sql(dialect)


def _folded(name: str, dialect: str) -> str:
    """A name, quoted or not, as the tables of ``dialect`` have it here."""
    return name.upper() if dialect == "snowflake" else name


def relations(schema: Schema, dialect: str) -> NamedRelations:
    """The tables of ``schema`` with the names and types the dialect has for them."""
    return tables(
        {
            table: {
                _folded(name, dialect): _type(data_type, dialect)
                for name, data_type in columns.items()
            }
            for table, columns in schema.items()
        },
        stored=False,
    )


def _type(name: str | None, dialect: str) -> str:
    return exp.DataType.build(name or "unknown", dialect="duckdb").sql(dialect)


def _statements(prepared: Prepared) -> Iterator[tuple[str, exp.Expr]]:
    """All that is run of one query: with gates and cells, their side queries, inline, counted."""
    gated = Rewriter(prepared, cells=True, terms=True).rewrite()
    yield "with gates", gated.query
    for gate in gated.gates.values():
        yield from ((gate.name, side) for side in gate.sides)
    yield "inline", Rewriter(prepared, gating=False).rewrite().query
    yield "counted", Rewriter(prepared, Counts()).rewrite().query


def _parts(query: exp.Expr) -> Counter[str]:
    return Counter(node.key for node in query.walk() if isinstance(node, PARTS))


def _supported(query: exp.Expr, dialect: str) -> bool:
    try:
        query.sql(dialect, unsupported_level=ErrorLevel.RAISE)
    except UnsupportedError:
        return False
    return True
