"""What differs between SQL dialects in the resolution of names, and adapter type to dialect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from lineage_post.errors import OptionError

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import Dialect

#: dbt adapter type -> sqlglot dialect.
ADAPTER_DIALECTS: dict[str, str] = {
    "athena": "athena",
    "bigquery": "bigquery",
    "clickhouse": "clickhouse",
    "databricks": "databricks",
    "doris": "doris",
    "dremio": "dremio",
    "drill": "drill",
    "druid": "druid",
    "duckdb": "duckdb",
    "exasol": "exasol",
    "fabric": "fabric",
    "fabricspark": "spark",
    "glue": "spark",
    "greenplum": "postgres",
    "hive": "hive",
    "impala": "hive",
    "materialize": "materialize",
    "motherduck": "duckdb",
    "mysql": "mysql",
    "mysql5": "mysql",
    "mariadb": "mysql",
    "oracle": "oracle",
    "postgres": "postgres",
    "presto": "presto",
    "redshift": "redshift",
    "risingwave": "risingwave",
    "singlestore": "mysql",
    "snowflake": "snowflake",
    "spark": "spark",
    "sqlite": "sqlite",
    "sqlserver": "tsql",
    "starrocks": "starrocks",
    "synapse": "tsql",
    "teradata": "teradata",
    "tidb": "mysql",
    "timescaledb": "postgres",
    "trino": "trino",
    "upsolver": "trino",
    "vertica": "postgres",
}


def dialect_of(adapter_type: str) -> str:
    """The SQL dialect of a dbt adapter. Raises OptionError with the adapters that are known."""
    try:
        return ADAPTER_DIALECTS[adapter_type.lower()]
    except KeyError:
        known = ", ".join(sorted(ADAPTER_DIALECTS))
        raise OptionError(
            f"the adapter type {adapter_type!r} has no known SQL dialect",
            hint=f"Pass --dialect, or use one of the known adapters: {known}.",
        ) from None


class Case(Enum):
    """How an engine compares the names of columns and aliases."""

    LOWER = "unquoted names are folded to lower case"
    UPPER = "unquoted names are folded to upper case"
    IGNORED = "case never matters, spelling is kept"
    EXACT = "case always matters"


class Visible(Enum):
    """Whether a clause sees the aliases of its own select list.

    ``select a + 1 as b, b * 2 from t where b > 0 group by b``
    """

    NO = "only columns"
    AFTER_COLUMNS = "columns first, then aliases"
    BEFORE_COLUMNS = "aliases first, then columns"


class Arrow(Enum):
    """What ``a -> b`` means among the arguments of a function."""

    LAMBDA = "a lambda"
    JSON = "a path in a document"
    EITHER = "by the function"


_ARROW_IS_JSON = frozenset({"postgres", "redshift", "materialize", "risingwave", "mysql", "sqlite"})
_LATERAL = frozenset(
    {"duckdb", "snowflake", "redshift", "databricks", "spark", "clickhouse", "teradata"}
)
_ALIAS_IN_WHERE = frozenset({"duckdb", "snowflake", "clickhouse", "teradata", "sqlite"})
_ALIAS_IN_HAVING = _ALIAS_IN_WHERE | {
    "mysql", "doris", "starrocks", "bigquery", "spark", "databricks", "hive", "redshift",
}  # fmt: skip
_NO_ALIAS_IN_GROUP = frozenset({"tsql", "fabric", "oracle", "trino", "presto", "athena"})
_COLUMNS_IN_ORDER_EXPRESSIONS = frozenset(
    {"duckdb", "postgres", "redshift", "tsql", "fabric", "oracle"}
)
_IGNORED_CASE = frozenset({"mysql", "doris", "starrocks", "teradata", "fabric"})
_STRUCT_DOT = frozenset(
    {
        "bigquery", "duckdb", "spark", "spark2", "databricks", "hive", "trino", "presto", "athena",
        "clickhouse", "starrocks", "doris", "drill", "dremio", "redshift", "",
    }
)  # fmt: skip
_MERGED_IN_PLACE = frozenset({"duckdb", "clickhouse"})
_ROW_ALIASES = frozenset(
    {"postgres", "redshift", "bigquery", "duckdb", "materialize", "risingwave", "spark",
     "databricks", "trino", "presto", "athena", "snowflake", ""}
)  # fmt: skip
#: Dialects in which every CTE may refer to itself without the word RECURSIVE.
_ALWAYS_RECURSIVE = frozenset({"tsql", "fabric", "oracle", "snowflake", "teradata", "exasol"})

_VALUES_NAMES = {
    "duckdb": ("col", 0),
    "snowflake": ("COLUMN", 1),
    "spark": ("col", 1),
    "databricks": ("col", 1),
    "hive": ("col", 1),
    "trino": ("_col", 0),
    "presto": ("_col", 0),
    "athena": ("_col", 0),
    "mysql": ("column_", 0),
    "clickhouse": ("c", 1),
}


_FAMILIES = {
    "fabric": "tsql",
    "hive": "spark",
    "spark2": "spark",
    "databricks": "spark",
    "athena": "trino",
    "presto": "trino",
    "redshift": "postgres",
    "materialize": "postgres",
    "risingwave": "postgres",
    "doris": "mysql",
    "starrocks": "mysql",
}


@dataclass(frozen=True, slots=True)
class Rules:
    """The name rules of one dialect. ``key`` is what names are compared by, ``spell`` what the
    engine calls an output; both take an Identifier."""

    name: str
    family: str
    dialect: Dialect
    case: Case
    key: Callable[[Any], str]
    spell: Callable[[Any], str]
    select_list: Visible
    where: Visible
    group: Visible
    having: Visible
    order_expression: Visible
    everywhere_alias_first: bool
    struct_dot: bool
    row_alias: bool
    merged_in_place: bool
    renames_duplicates: bool
    #: ``select ID from t`` is called as t spells it, not as the query does.
    keeps_stored_case: bool
    always_recursive: bool
    #: A field that is read by its path is called by all of it, as ``nested.k``.
    dotted_names: bool
    #: A derived table sees the items of FROM before it without the word LATERAL.
    implicit_lateral: bool
    #: UNNEST of an array of structs gives their fields as columns.
    unnests_fields: bool
    arrow: Arrow
    #: What the columns of VALUES are called: prefix and first number.
    values_prefix: str
    values_base: int
    #: What the element of UNNEST is called, where it is not the alias.
    unnest_name: str | None

    def key_of(self, spelling: str) -> str:
        """What a name in the warehouse's spelling is compared by."""
        return spelling.lower() if self.case is Case.IGNORED else spelling

    def keys_of(self, spellings: Sequence[str]) -> list[str]:
        """``key_of`` of each."""
        return list(map(str.lower, spellings) if self.case is Case.IGNORED else spellings)

    def is_canonical(self, spelling: str) -> bool:
        """Whether an unquoted name could have this spelling."""
        if self.case is Case.LOWER:
            return spelling == spelling.lower()
        if self.case is Case.UPPER:
            return spelling == spelling.upper()
        return self.case is Case.IGNORED


@cache
def rules_of(dialect: str | None) -> Rules:
    """The rules of a sqlglot dialect. Raises OptionError for a name that is none."""
    from sqlglot.dialects.dialect import Dialect

    name = (dialect or "").lower()
    if name == "ansi":
        name = ""
    try:
        found = Dialect.get_or_raise(name or None)
    except ValueError as error:
        raise OptionError(f"there is no SQL dialect {dialect!r}", hint=str(error)) from None
    case = _case(name, found)
    key, spell = _folds(case)
    if _FAMILIES.get(name, name) == "tsql":
        key, spell = _marked(key), _marked(spell)
    lateral = name in _LATERAL
    return Rules(
        name=name,
        family=_FAMILIES.get(name, name),
        dialect=found,
        case=case,
        key=key,
        spell=spell,
        select_list=_visible(lateral, first=name == "clickhouse"),
        where=_visible(name in _ALIAS_IN_WHERE, first=name == "clickhouse"),
        group=_visible(name not in _NO_ALIAS_IN_GROUP, first=name in {"clickhouse", "bigquery"}),
        having=_visible(name in _ALIAS_IN_HAVING, first=name == "clickhouse"),
        order_expression=_visible(True, first=name not in _COLUMNS_IN_ORDER_EXPRESSIONS),
        everywhere_alias_first=name == "clickhouse",
        struct_dot=name in _STRUCT_DOT,
        row_alias=name in _ROW_ALIASES,
        merged_in_place=name in _MERGED_IN_PLACE,
        renames_duplicates=name == "duckdb",
        keeps_stored_case=name == "duckdb",
        always_recursive=name in _ALWAYS_RECURSIVE,
        dotted_names=name == "clickhouse",
        implicit_lateral=name == "duckdb",
        arrow=_arrow(name),
        unnests_fields=name in {"bigquery", "trino", "presto", "athena"},
        values_prefix=_VALUES_NAMES.get(name, ("column", 1))[0],
        values_base=_VALUES_NAMES.get(name, ("column", 1))[1],
        unnest_name="unnest" if name == "duckdb" else None,
    )


def _arrow(name: str) -> Arrow:
    if name in _ARROW_IS_JSON:
        return Arrow.JSON
    return Arrow.EITHER if name in ("duckdb", "") else Arrow.LAMBDA


def _visible(visible: bool, *, first: bool) -> Visible:
    if first:
        return Visible.BEFORE_COLUMNS
    return Visible.AFTER_COLUMNS if visible else Visible.NO


def _case(name: str, dialect: Dialect) -> Case:
    if name in _IGNORED_CASE:
        return Case.IGNORED
    strategy = dialect.normalization_strategy.name
    if strategy == "CASE_SENSITIVE":
        return Case.EXACT
    if strategy in ("LOWERCASE", "UPPERCASE"):
        return Case.LOWER if strategy == "LOWERCASE" else Case.UPPER
    return Case.IGNORED


def _folds(case: Case) -> tuple[Callable[[Any], str], Callable[[Any], str]]:
    if case is Case.IGNORED:
        return _lowered, _written
    if case is Case.EXACT:
        return _written, _written
    fold = _folded_lower if case is Case.LOWER else _folded_upper
    return fold, fold


def _written(identifier: Any) -> str:
    name = identifier.args.get("this")
    return name if name.__class__ is str else str(identifier.name)


def _lowered(identifier: Any) -> str:
    try:
        name: str = identifier.args["this"].lower()
        return name
    except (AttributeError, TypeError, KeyError):
        return _written(identifier).lower()


def _folded_lower(identifier: Any) -> str:
    args = identifier.args
    name: str = args.get("this")
    if name.__class__ is not str:
        name = _written(identifier)
    return name if args.get("quoted") else name.lower()


def _folded_upper(identifier: Any) -> str:
    args = identifier.args
    name: str = args.get("this")
    if name.__class__ is not str:
        name = _written(identifier)
    return name if args.get("quoted") else name.upper()


def _marked(fold: Callable[[Any], str]) -> Callable[[Any], str]:
    """T-SQL's ``#t`` and ``##t`` are other tables than ``t``."""

    def marked(identifier: Any) -> str:
        args = identifier.args
        if args.get("temporary"):
            return "#" + fold(identifier)
        return "##" + fold(identifier) if args.get("global_") else fold(identifier)

    return marked
