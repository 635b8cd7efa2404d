"""Functions of FROM that read files: which relation, or relations, each of them stands for.

::

    from read_csv('a.csv')                      the file
    from read_parquet(['a.parquet', s])         a source of dbt that is called so as a whole,
    from read_parquet(['a', 'b'])               else each file: a column is of all of them
    from sqlite_scan('shop.db', 'orders')       shop.db.orders
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.opens import OpenFiles
from lineage_post.trace.printing import printed
from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.tracer import Tracer

#: What reads a table of another database: where that is stands first, and may hold a password.
_OF_DATABASE = frozenset({"postgres_scan", "mysql_scan"})


def read_files(t: Tracer, function: Any) -> Relation:
    """The relation that a call of a reader gives."""
    written = _written(t, function)
    if written is not None and t.schema.find((written,)) is not None:
        return t.table((written,))
    arguments = _arguments(function)
    first: Any = arguments[0] if arguments else None
    files = first.expressions if isinstance(first, (exp.Array, exp.List)) else [first]
    if not files or not all(isinstance(f, exp.Literal) and f.is_string for f in files):
        return t.open_relation(written or printed(function, t.rules.dialect))
    rest = [str(a.name) for a in arguments[1:] if isinstance(a, exp.Literal) and a.is_string]
    name = str(function.name).lower() if isinstance(function, exp.Anonymous) else ""
    if name == "sqlite_scan" or name in _OF_DATABASE:
        place = [] if name in _OF_DATABASE and rest else [str(first.name)]
        return t.table((".".join([*place, *rest]),))
    return _together(t, [t.table((str(file.name),)) for file in files])


def _arguments(function: Any) -> list[Any]:
    first = None if isinstance(function, exp.Anonymous) else function.args.get("this")
    return [*([] if first is None else [first]), *function.expressions]


def _written(t: Tracer, function: Any) -> str | None:
    """The call as it stands in the text."""
    first, last = t.tokens.first_of(function), t.tokens.last_of(function)
    return None if first is None or last is None else t.tokens.slice(first, last)


def _together(t: Tracer, relations: list[Relation]) -> Relation:
    """Files read one after the other, a column of each under the name it has in the first."""
    first = relations[0]
    if len(relations) == 1:
        return first
    open_ = OpenFiles(relations)
    names = first.spellings
    provenances = [open_.column(t, t.rules.key_of(name), name) for name in names]
    steps: list[AnyStep] = [None] * len(names)
    is_open = any(relation.open is not None for relation in relations)
    return Relation(t.rules, names, provenances, steps, open_=open_ if is_open else None)
