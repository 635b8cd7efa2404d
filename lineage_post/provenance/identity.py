"""What tells one source row from another: a key, the engine's row id, or the row's values."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from lineage_post.provenance.building import as_text, call, coalesce, column, concat, number, text
from lineage_post.provenance.prepared import Base
from lineage_post.vocabulary import Word

#: Pseudo columns that name a row for as long as nothing is written.
ROW_IDS = {"duckdb": "rowid", "postgres": "ctid"}


Alias = str | exp.Identifier


class KeyKind(Word):
    """How rows of a relation are told apart, best first."""

    DECLARED = "declared key"
    ROW_ID = "row id"
    VALUES = "values of the columns read"
    HASH = "hash of the row"


@dataclass(frozen=True, slots=True)
class Identity:
    """The columns (or pseudo column) whose values are a row's key in tokens."""

    kind: KeyKind
    columns: tuple[str, ...]


def identity_of(base: Base, dialect: str) -> Identity:
    """The best identity ``base`` has in ``dialect``."""
    relation = base.relation
    if relation.key:
        return Identity(KeyKind.DECLARED, tuple(_stored(base, name) for name in relation.key))
    row_id = ROW_IDS.get(dialect)
    if relation.stored and row_id and row_id not in base.types:
        return Identity(KeyKind.ROW_ID, (row_id,))
    columns = base.read or tuple(base.types)
    if columns:
        return Identity(KeyKind.VALUES, columns)
    return Identity(KeyKind.HASH, ())


def _stored(base: Base, name: str) -> str:
    """``name`` in the spelling of the relation's columns."""
    spellings = {known.lower(): known for known in base.types}
    return spellings.get(name.lower(), name)


def row_token(base: Base, identity: Identity, alias: Alias, dialect: str) -> exp.Expr:
    """SQL for the token of the row that ``alias`` stands for."""
    keys = [key_column(base, identity, name, alias) for name in identity.columns]
    if identity.kind is KeyKind.ROW_ID:
        # Never NULL where there is a row, and NULL says that there is none.
        return token(base.label, [as_text(key) for key, _ in keys])
    if identity.kind is KeyKind.HASH:
        keys = [(row_hash(alias, dialect), None)]
    return token(base.label, [part(key, data_type, dialect) for key, data_type in keys])


def key_column(
    base: Base, identity: Identity, name: str, alias: Alias
) -> tuple[exp.Expr, exp.DataType | None]:
    if identity.kind is KeyKind.ROW_ID:
        return column(name, alias), exp.DataType.build("bigint" if name == "rowid" else "text")
    quoted = exp.to_identifier(name, quoted=True)
    return exp.Column(this=quoted, table=_identifier(alias)), base.types.get(name)


def _identifier(alias: Alias) -> exp.Identifier:
    return alias.copy() if isinstance(alias, exp.Identifier) else exp.to_identifier(alias)


def token(name: str, parts: list[exp.Expr]) -> exp.Expr:
    """SQL for ``name[part|part]``."""
    pieces: list[exp.Expr] = [text(f"{name}[")]
    for position, piece in enumerate(parts):
        pieces.extend([text("|"), piece] if position else [piece])
    return concat([*pieces, text("]")])


def part(key: exp.Expr, data_type: exp.DataType | None, dialect: str) -> exp.Expr:
    """SQL for one key part: bare where no character of it can be taken for syntax, else counted."""
    written = key_text(key, data_type, dialect)
    if is_bare(data_type):
        return coalesce(written, text("~"))
    length = as_text(exp.Length(this=written.copy()))
    return coalesce(concat([text("'"), length, text(":"), written]), text("~"))


def is_bare(data_type: exp.DataType | None) -> bool:
    """May texts of this type stand in a token as they are?"""
    return data_type is not None and bool(data_type.is_type(*BARE_TYPES))


def key_text(key: exp.Expr, data_type: exp.DataType | None, dialect: str) -> exp.Expr:
    """SQL for the text of a key: equal keys give equal texts."""
    if data_type is not None:
        if data_type.is_type(*FLOAT_TYPES):
            # -0.0 equals 0.0 and prints otherwise.
            return as_text(exp.Add(this=key.copy(), expression=number(0)))
        if dialect == "postgres" and data_type.is_type(exp.DataType.Type.DECIMAL):
            # 1.0 equals 1.00 and prints otherwise.
            return as_text(call("trim_scale", key.copy()))
    return as_text(key)


def row_hash(alias: Alias, dialect: str) -> exp.Expr:
    """SQL for a hash over a whole row."""
    row = exp.column(_identifier(alias))
    if dialect == "bigquery":
        return exp.MD5(this=call("to_json_string", row))
    if dialect == "snowflake":
        return as_text(call("hash", exp.Star()))
    if dialect in ("spark", "databricks"):
        return exp.MD5(this=call("to_json", call("struct", exp.Star())))
    return exp.MD5(this=as_text(row))


INTEGER_TYPES = tuple(exp.DataType.INTEGER_TYPES)
FLOAT_TYPES = tuple(exp.DataType.FLOAT_TYPES)
TEXT_TYPES = (exp.DataType.Type.VARCHAR, exp.DataType.Type.TEXT)
#: Their text never holds ``|`` or ``]``.
BARE_TYPES = (
    *INTEGER_TYPES,
    *FLOAT_TYPES,
    exp.DataType.Type.DECIMAL,
    exp.DataType.Type.BOOLEAN,
    exp.DataType.Type.DATE,
    exp.DataType.Type.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPTZ,
    exp.DataType.Type.TIME,
    exp.DataType.Type.UUID,
)
