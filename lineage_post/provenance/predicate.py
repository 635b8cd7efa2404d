"""The predicate that asks for rows: an expression over the model's columns, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lineage_post.provenance.refusal import Refusal

#: Nodes a predicate may be made of: comparisons, logic, arithmetic, literals, plain functions.
_ALLOWED: tuple[type[exp.Expr], ...] = (
    exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Paren, exp.Tuple,
    exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is,
    exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.In, exp.Like, exp.ILike, exp.Escape,
    exp.StartsWith, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.DPipe, exp.Cast,
    exp.TryCast, exp.DataType, exp.DataTypeParam, exp.Interval, exp.Var, exp.Coalesce, exp.Nullif,
    exp.Lower, exp.Upper, exp.Trim, exp.Substring, exp.Length, exp.Left, exp.Right, exp.Replace,
    exp.Concat, exp.Abs, exp.Round, exp.Floor, exp.Ceil, exp.Case, exp.If, exp.Date, exp.Extract,
    exp.Year, exp.Month, exp.Day, exp.TimestampTrunc, exp.DateTrunc, exp.TsOrDsToDate,
)  # fmt: skip
_TESTS = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean, exp.Column, exp.Between, exp.In)
HINT = (
    "Write a condition over the model's columns, such as: order_id = 42 and status in ('a', 'b')."
)


def checked(
    text: str, columns: Iterable[str], dialect: str, *, names: Iterable[str] = ()
) -> exp.Expr:
    """The predicate in ``text``, its columns in the spelling of ``columns``, quoted.

    ``names`` are what may stand before a column: the model and its relation. Raises Refusal for a
    subquery, an aggregate, an unknown function or column, a second statement: for anything that is
    not a condition over one row.
    """
    condition = _parsed(text, dialect)
    known = {column.lower(): column for column in columns}
    prefixes = {name.lower() for name in names}
    for node in condition.walk():
        if not isinstance(node, _ALLOWED):
            what = node.sql(dialect)[:60]
            raise Refusal(f"the condition holds {what!r}, which is not allowed", hint=HINT)
        if isinstance(node, exp.DataType) and not _is_built_in(node):
            # Casting to a type that a user made may run a function of theirs.
            what = node.sql(dialect)[:60]
            raise Refusal(
                f"the condition names the type {what!r}, which is not built in", hint=HINT
            )
        if isinstance(node, exp.Column):
            _check_column(node, known, prefixes)
    return condition


def _is_built_in(data_type: exp.DataType) -> bool:
    # Names such as regclass, which look things up, are of a class derived from DataType.
    return type(data_type) is exp.DataType and data_type.this != exp.DataType.Type.USERDEFINED


def _parsed(text: str, dialect: str) -> exp.Expr:
    try:
        statements = sqlglot.parse(text, read=dialect)
    except (SqlglotError, RecursionError) as error:
        raise Refusal(f"the condition {text!r} cannot be parsed", hint=HINT) from error
    if len(statements) != 1 or statements[0] is None:
        raise Refusal(f"the condition {text!r} is not one expression", hint=HINT)
    condition = statements[0]
    if not isinstance(condition.unnest(), _TESTS):
        raise Refusal(f"{text!r} is not a condition", hint=HINT)
    return condition


def _check_column(node: exp.Column, known: dict[str, str], prefixes: set[str]) -> None:
    if node.args.get("db") or (node.table and node.table.lower() not in prefixes):
        raise Refusal(f"the condition names {node.sql()}, which is no column of the model")
    name = known.get(node.name.lower()) if known else node.name
    if name is None:
        listed = ", ".join(known.values())
        raise Refusal(f"the model has no column {node.name!r}", hint=f"It has {listed}.")
    node.set("table", None)
    node.set("this", exp.to_identifier(name, quoted=True))
