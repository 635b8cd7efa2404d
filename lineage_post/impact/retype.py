"""What SQL makes of a column that gets another type: which readers may not take it any more.

Nothing is executed and no warehouse is asked. Types fall into a few families, and some functions
and operators take one family alone: ``sum(x)`` numbers, ``upper(x)`` text. A reader that puts the
column into one of these may break; of a function that is not listed here nothing is claimed. A cast
on the way ends it, as what comes after reads the cast's type.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from lineage_post.errors import SelectionError
from lineage_post.graph import Column
from lineage_post.impact.change import HOW, Dependent, Doubt, Doubts, How
from lineage_post.lineage import Edge, Lineage
from lineage_post.trace.dialects import dialect_of
from lineage_post.vocabulary import OpKind, Subtype

NUMBER, TEXT, TIME, OTHER = "number", "text", "time", "other"

#: The one family that these take.
_TAKES = {
    NUMBER: """SUM AVG MEDIAN STDDEV STDDEV_POP STDDEV_SAMP VARIANCE VAR_POP VAR_SAMP VAR STDEV
        CORR COVAR_POP COVAR_SAMP ABS ROUND FLOOR CEIL CEILING SQRT CBRT POWER POW EXP LN LOG LOG10
        LOG2 MOD SIGN TRUNC TRUNCATE SIN COS TAN DIV SAFE_DIVIDE DIV0 DIV0NULL PERCENTILE_CONT
        + - * / % // ^""",
    TEXT: """LOWER UPPER TRIM LTRIM RTRIM BTRIM SUBSTR SUBSTRING LEFT RIGHT REPLACE SPLIT
        SPLIT_PART LPAD RPAD INITCAP REVERSE TRANSLATE REGEXP_REPLACE REGEXP_EXTRACT REGEXP_SUBSTR
        REGEXP_LIKE REGEXP_MATCHES STARTS_WITH STARTSWITH ENDS_WITH ENDSWITH STRPOS INSTR CHARINDEX
        LENGTH LEN CHAR_LENGTH MD5 SHA1 SHA256 LIKE ILIKE REGEXP GLOB""",
    TIME: """DATE_TRUNC DATETRUNC TIMESTAMP_TRUNC EXTRACT DATE_PART DATEPART YEAR QUARTER MONTH WEEK
        DAY HOUR MINUTE DATE_ADD DATEADD DATE_SUB DATE_DIFF DATEDIFF LAST_DAY STRFTIME
        DATE_FORMAT""",
}
TAKES = {name: family for family, names in _TAKES.items() for name in names.split()} | {
    "SIMILAR TO": TEXT
}
#: What gives the type of its argument on; the others of them may then not fit, which is not judged.
_PASSES = {
    *("identity", "CASE", "COALESCE", "IFNULL", "NVL", "NULLIF", "MIN", "MAX", "ANY_VALUE"),
    *("FIRST", "LAST", "FIRST_VALUE", "LAST_VALUE", "LAG", "LEAD", "GREATEST", "LEAST"),
}
_COMPARES = {
    *("=", "<>", ">", ">=", "<", "<=", "IN", "BETWEEN"),
    *("IS NOT DISTINCT FROM", "IS DISTINCT FROM"),
}
#: What takes any type, and gives one that does not depend on it.
_TAKES_ANY = {"COUNT", "IS", "ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "CAST", "TRY_CAST"}
_ADDS = {"+", "-"}


def checked_type(lineage: Lineage, column: Column, text: str) -> str:
    """``text`` where it is a type that the project's dialect knows, or that a column of the project
    has. Raises SelectionError for any other."""
    if not _has_type(lineage, text) and family_of(text, _dialect(lineage)) is None:
        name = f"{column[0].split('.', 2)[-1]}.{column[1]}"
        raise SelectionError(
            f"retype of {name}: {text!r} is no type that {_dialect(lineage)} is known to have",
            hint="Write one such as varchar, bigint, decimal(12, 2), date, timestamp or boolean. A "
            "type of your own counts where a column of the project has it. Without =TYPE it is "
            "asked what fixes the type at all.",
        )
    return text


def family_of(data_type: str | None, dialect: str) -> str | None:
    """``number``, ``text``, ``time`` or ``other``; None for what is no type that is known."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    if data_type and ";" in data_type:  # older parsers take what stands before it
        return None
    try:
        kind = exp.DataType.build(data_type or "", dialect=dialect)
    except (SqlglotError, TypeError, ValueError):
        return None
    families = {
        NUMBER: exp.DataType.NUMERIC_TYPES,
        TEXT: exp.DataType.TEXT_TYPES,
        TIME: exp.DataType.TEMPORAL_TYPES,
    }
    return next((family for family, types in families.items() if kind.this in types), OTHER)


def doubts_of(
    lineage: Lineage,
    start: Column,
    to: str,
    dependents: Iterable[Dependent],
    *,
    was: str | None = None,
) -> Doubts:
    """Of the dependents of a column that gets the type ``to``, those whose SQL may not take it.

    None where the type stays in its family: from int to bigint no function is lost. ``was`` is the
    type before, where the lineage has the new one already.
    """
    dialect = _dialect(lineage)
    family = family_of(to, dialect)
    node = lineage.nodes.get(start[0])
    own = node.column(start[1] or "") if node is not None else None
    before = was or (own.data_type if own else None)
    if family is None or family == family_of(before, dialect):
        return Doubts()
    by_column = {(d.unique_id, d.column): d for d in dependents if d.role is None}
    found: tuple[dict[Column, Doubt], dict[Column, Doubt]] = ({}, {})
    for edge, because, is_known in _judged(lineage, start, family, to):
        target = (edge.to_node, edge.to_column)
        if target in by_column:
            found[not is_known].setdefault(target, Doubt(by_column[target], because))
    may_break, unjudged = found
    return Doubts(
        tuple(may_break.values()),
        tuple(doubt for target, doubt in unjudged.items() if target not in may_break),
    )


def _judged(
    lineage: Lineage, start: Column, family: str, to: str
) -> Iterator[tuple[Edge, str, bool]]:
    """The edges out of all columns that have the type too, with what may not take it; false where
    it is not known whether it does."""
    queue, seen = deque([start]), {start}
    while queue:
        column = queue.popleft()
        for edge in lineage.graph.edges_out_of(column[0], column[1] or ""):
            because, is_known, is_passed = _at(edge, family, to)
            if because is not None:
                yield edge, because, is_known
            target = (edge.to_node, edge.to_column)
            if is_passed and target[1] is not None and target not in seen:
                seen.add(target)
                queue.append(target)


def _at(edge: Edge, family: str, to: str) -> tuple[str | None, bool, bool]:
    """What on an edge may not take the type, whether that is known, and whether the edge's target
    has the type too."""
    is_value = HOW[edge.subtype] is How.VALUE
    for op in edge.ops:
        if op.kind is OpKind.COMMAND:
            return op.name, False, False
        name = op.name.upper() if op.kind is not OpKind.IDENTITY else op.name
        if name in _PASSES:
            continue
        takes = TAKES.get(name)
        if takes is not None:
            fits = takes == family or (name in _ADDS and family == TIME)
            return (None if fits else f"{op.name} over {to}"), True, False
        if name in _COMPARES:
            return f"{op.name} with {to}", True, False
        return (None, True, False) if name in _TAKES_ANY else (op.name, False, False)
    if edge.subtype is Subtype.JOIN:
        return f"joined as {to}", True, False
    return None, True, is_value


def _has_type(lineage: Lineage, text: str) -> bool:
    plain = text.casefold()
    return any(
        (column.data_type or "").casefold() == plain
        for node in lineage.nodes.values()
        for column in node.columns
    )


def _dialect(lineage: Lineage) -> str:
    return lineage.options.dialect or dialect_of(lineage.project.adapter_type)
