"""Functions by name: masking ones, declared commands, built-in ones, and those nobody knows."""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp

from lineage_post.trace.aggregates import of_parts
from lineage_post.trace.builtin_names import is_aggregate, is_builtin, reads_by_text
from lineage_post.trace.combinators import aggregates_of, parts_of
from lineage_post.trace.commands import call
from lineage_post.trace.conditions import (
    case_of_value,
    choose,
    condition,
    looked_up,
    multi_if,
)
from lineage_post.trace.dialects import Arrow
from lineage_post.trace.elements import PICKING, picked
from lineage_post.trace.expressions import Handler, children, evaluate, handles, of_rows
from lineage_post.trace.frame import Frame
from lineage_post.trace.masking_names import MASKING
from lineage_post.trace.paths import numbered_of_all, positional
from lineage_post.trace.printing import printed
from lineage_post.trace.provenance import JOIN, aggregated, transformed
from lineage_post.trace.resolve import unqualified
from lineage_post.trace.result import Op
from lineage_post.trace.schema_index import split_name
from lineage_post.trace.scope import find_operand, row_of, unresolved, variable
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import OpKind, Reason

_ARROW = Op("->", OpKind.OPERATOR)
#: Functions that read a variable, which another statement may have filled from a table.
_SET_ELSEWHERE = frozenset({"getvariable"})
#: Schemas of the functions that come with an engine, and BigQuery's word for "null, no error".
_SYSTEM = re.compile(r"\A(?:pg_catalog|sys|(?:system\.)?builtin|safe)\.(?=\w)")
#: Functions of Postgres' extensions, which may be in any schema.
_OF_EXTENSION = re.compile(
    r"\A\w+\.(?=(?:digest|hmac|crypt|encrypt|encrypt_iv|pgp_\w+|uuid_generate_v[35])\Z)"
)
#: Aggregates that sqlglot has no class for whose second argument decides whose value is taken.
_BY_KEY = frozenset(
    {"arg_max_null", "arg_min_null", "arg_max_nulls_last", "arg_min_nulls_last", "latest_by",
     "earliest_by", "max_by_v2", "min_by_v2"}
)  # fmt: skip
#: Aggregates of one value that are functions of two.
_AGGREGATES_OF_ONE = frozenset({"st_union", "st_collect", "st_makeline", "st_polygonize"})
#: Functions of a dialect's family that choose between values, if they have so many arguments.
_CHOICES: dict[tuple[str, str], tuple[int, Handler]] = {
    ("clickhouse", "multiif"): (1, multi_if),
    ("clickhouse", "casewithexpression"): (3, case_of_value),
    ("clickhouse", "transform"): (4, looked_up),
    ("tsql", "choose"): (2, choose),
    ("mysql", "make_set"): (2, choose),
}
#: Functions of Postgres that give a row for each element, in a select list as well.
_SET_RETURNING = frozenset(
    {
        "jsonb_array_elements", "json_array_elements", "jsonb_array_elements_text",
        "json_array_elements_text", "jsonb_object_keys", "json_object_keys", "jsonb_each",
        "json_each", "jsonb_each_text", "json_each_text", "jsonb_path_query", "string_to_table",
        "regexp_split_to_table", "regexp_matches", "generate_subscripts", "jsonb_to_recordset",
        "json_to_recordset", "jsonb_populate_recordset", "json_populate_recordset",
    }
)  # fmt: skip


@handles(
    "MD5", "MD5Digest", "MD5NumberLower64", "MD5NumberUpper64", "SHA", "SHA1Digest", "SHA2",
    "SHA2Digest", "FarmFingerprint", "StandardHash", "Encrypt", "EncryptRaw", "HashAgg", "Fnv1a",
    "CityHash64", "XxHash64", "Crc32",
)  # fmt: skip
def masking(t: Tracer, node: Any, f: Frame) -> int:
    """A function that hashes or redacts: what passes through it is masked."""
    inner = children(t, node, f)
    x = t.sources.masked(aggregated(inner) if _is_of_rows(t, node) else transformed(inner))
    if x:
        t.log.append((node, x))
    return x


def _is_of_rows(t: Tracer, node: Any) -> bool:
    """Whether a hash is of all rows, as that of hash_agg; the checksum of Trino and of Oracle is,
    T-SQL's is not."""
    if isinstance(node, exp.AggFunc) or is_aggregate(str(node.name).lower()):
        return True
    return t.rules.family in ("trino", "oracle") and str(node.name).lower() == "checksum"


@handles("Anonymous")
def by_name(t: Tracer, node: Any, f: Frame) -> int:
    """A function sqlglot has no class for."""
    plain = str(node.name).lower()
    is_of_rows = plain in _BY_KEY or is_aggregate(plain)
    return (_named_aggregate if is_of_rows else _named)(t, node, f)


def _named(t: Tracer, node: Any, f: Frame) -> int:
    return named(t, node, str(node.name), f)


_named_aggregate = of_rows(_named)


def named(t: Tracer, node: Any, name: str, f: Frame) -> int:
    """A function by its full name."""
    plain = name.lower()
    contract = t.commands.find(name)
    if contract is not None:
        x = call(t, node, contract, f)
        return t.sources.masked(x) if plain in t.masking else x
    if plain not in t.masking:
        plain = _SYSTEM.sub("", plain)
        plain = _OF_EXTENSION.sub("", plain) if t.rules.family == "postgres" else plain
    if plain in MASKING:
        return masking(t, node, f)
    if plain == "table" and len(node.expressions) == 1:
        return _whole_table(t, node.expressions[0])
    if plain == "descriptor":
        return 0  # names of columns, of whatever relation
    if plain == "values" and len(node.expressions) == 1:
        return _inserted(t, node.expressions[0], f)
    if plain in _SET_RETURNING and t.rules.family == "postgres":
        return row_maker(t, node, f)
    at_least, choice = _CHOICES.get((t.rules.family, plain), (0, None))
    if choice is not None and len(node.expressions) >= at_least:
        return choice(t, node, f)
    if plain == "identifier" and isinstance(node.expressions[0], exp.Literal):
        return unqualified(t, exp.to_identifier(node.expressions[0].name), f)
    if t.rules.name == "clickhouse":
        parts = parts_of(name, aggregates_of(t.rules.dialect.parser_class))
        if parts is not None:
            return of_parts(t, node, parts, node.expressions, f)
        if plain == "tupleelement" and len(node.expressions) == 2:
            return _tuple_element(t, node, f)
    if plain in _BY_KEY and len(node.expressions) > 1:
        return of_parts(t, node, ("argmax", ()), node.expressions[:2], f)
    item = picked(t.rules, node) if plain in PICKING else None
    if item is not None:
        x = transformed(evaluate(t, item, f))
        if x:
            t.log.append((node, x))
        return x
    x = children(t, node, f)
    if plain.startswith(("dictget", "joinget")) and t.rules.name == "clickhouse":
        x |= _of_dictionary(t, node)
    if (
        plain in _SET_ELSEWHERE
        or reads_by_text(plain)
        or not (x or node.expressions or is_builtin(plain))
    ):
        return x | _untold(t, node, name)
    if not x:
        return 0
    if plain in t.masking:
        x = t.sources.masked(x)
    if is_aggregate(plain) or _is_of_one(t, plain, node):
        x = aggregated(x)
    else:
        x = transformed(x)
        if not is_builtin(plain):
            x = t.sources.assumed(x)
    t.log.append((node, x))
    return x


def _tuple_element(t: Tracer, node: Any, f: Frame) -> int:
    """ClickHouse's ``tupleElement((a, b), 1)`` is ``(a, b).1``, and by name a field."""
    value, key = node.expressions
    if not isinstance(key, exp.Literal) or t.expression_shape(value, f) is None:
        return transformed(children(t, node, f))
    if key.is_string:
        return evaluate(t, exp.Bracket(this=value.copy(), expressions=[key.copy()]), f)
    return evaluate(t, exp.Dot(this=value.copy(), expression=key.copy()), f)


def _is_of_one(t: Tracer, plain: str, node: Any) -> bool:
    """Whether it is ``st_union(g)`` of a group, not ``st_union(g, h)``; BigQuery's and DuckDB's of
    one value are of an array."""
    is_one = plain in _AGGREGATES_OF_ONE and len(node.expressions) == 1
    return is_one and t.rules.family in ("postgres", "snowflake", "mysql")


def _of_dictionary(t: Tracer, node: Any) -> int:
    """``dictGet('db.d', 'name', k)``, ``joinGet('db.j', 'name', k)``: the column ``name`` of the
    dictionary or of the table of engine Join, found by k."""
    if len(node.expressions) < 3 or not isinstance(node.expressions[0], exp.Literal):
        return 0
    dictionary, attributes = node.expressions[:2]
    relation = t.table(split_name(dictionary.name))
    x = 0
    for literal in attributes.expressions if isinstance(attributes, exp.Tuple) else [attributes]:
        i = relation.position(literal.name)
        if i >= 0:
            x |= relation.at(i)
        elif relation.open is not None and isinstance(literal, exp.Literal):
            x |= relation.open.column(t, literal.name, literal.name)
    return x


def _untold(t: Tracer, node: Any, name: str) -> int:
    """A call whose value comes from where no SQL tells: a variable, a function of no arguments."""
    call = t.label(node)
    how = "is not declared"
    if name.lower() in _SET_ELSEWHERE:
        how = "was set by another statement"
    elif reads_by_text(name.lower()):
        how = "is read from what a text names"
    return t.sources.unknown(call, Reason.EXTERNAL, f"what {call} gives {how}")


def _whole_table(t: Tracer, name: Any) -> int:
    """``f(input => table(t))``: every column of t goes in."""
    if not isinstance(name, exp.Column):
        return 0
    parts = [name.args[p] for p in ("catalog", "db", "table", "this") if name.args.get(p)]
    return row_of(t, t.table(tuple(map(t.spell, parts))))


def _inserted(t: Tracer, name: Any, f: Frame) -> int:
    """MySQL's ``on duplicate key update a = values(b)``: b of the row to be inserted."""
    operand = find_operand(t.rules.key_of("excluded"), f)
    i = -1 if operand is None else operand.relation.position(t.key(_variable(name)))
    if operand is None or i < 0:
        return 0
    step = operand.relation.steps[i]
    x = operand.relation.at(i)
    if step is not None:
        t.log.append((step, x))
    return x


@handles("Explode", "Posexplode", "Unnest", "Inline", "ExplodeOuter", "PosexplodeOuter", "Stack",
         "ExplodingGenerateSeries")  # fmt: skip
def row_maker(t: Tracer, node: Any, f: Frame) -> int:
    """``select explode(a)``: a also decides how many rows there are."""
    start = len(t.log)
    x = children(t, node, f)
    if not isinstance(node, exp.Stack):  # which gives as many as its number says
        t.decide(f, node, start, x, JOIN)
    x = transformed(x)
    if x:
        t.log.append((node, x))
    return x


#: Functions that take lambdas where ``->`` may also read a JSON document.
_HIGHER_ORDER = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "list_", "array_")
    for name in ("transform", "apply", "filter", "reduce", "map", "any", "all", "sort")
)


def _is_json_path(t: Tracer, node: Any) -> bool:
    """``coalesce(doc -> 'a')``: sqlglot takes every arrow in an argument for a lambda."""
    if t.rules.arrow is Arrow.LAMBDA or len(node.expressions) != 1:
        return False
    if t.rules.arrow is Arrow.JSON:
        return True
    function = node.parent
    if not isinstance(function, exp.Func):
        return False
    name = function.name if isinstance(function, exp.Anonymous) else function.sql_name()
    return str(name).lower() not in _HIGHER_ORDER


def _json_path(t: Tracer, node: Any, f: Frame) -> int:
    x = unqualified(t, _variable(node.expressions[0]), f)
    if t.step is not None:
        t.log.append((t.step, x))
    x = transformed(x | evaluate(t, node.args["this"], f))
    if x:
        t.log.append((_ARROW, x))
    return x


@handles("Lambda")
def lambda_(t: Tracer, node: Any, f: Frame) -> int:
    """``list_transform(a, x -> x + b)``: x is of the list, which is an argument of its own."""
    if _is_json_path(t, node):
        return _json_path(t, node, f)
    f.bind(t.key(_variable(v)) for v in node.expressions)
    x = evaluate(t, node.args["this"], f)
    f.unbind()
    return x


def _variable(node: Any) -> Any:
    return node if isinstance(node, exp.Identifier) else node.this


@handles("Comprehension")
def comprehension(t: Tracer, node: Any, f: Frame) -> int:
    """``[x + 1 for x in a if x > b]``."""
    a = node.args
    whole = transformed(evaluate(t, a["iterator"], f))
    names = [a["expression"], *([a["position"]] if isinstance(a.get("position"), exp.Expr) else [])]
    f.bind(t.key(_variable(v)) for v in names)
    x = whole | transformed(evaluate(t, a["this"], f))
    if a.get("condition") is not None:
        x |= condition(t, a["condition"], f)
    f.unbind()
    return x


@handles("Parameter")
def parameter(t: Tracer, node: Any, f: Frame) -> int:
    """Snowflake's ``$1`` is the first column of what FROM reads; elsewhere a bound value."""
    number = node.args.get("this")
    if t.rules.name != "snowflake" or not isinstance(number, exp.Literal) or not f.operands:
        return variable(t, "" if number is None else str(number.name))
    x = positional(t, f, int(number.name), None)
    if t.step is not None:
        t.log.append((t.step, x))
    return x


@handles("PositionalColumn")
def numbered(t: Tracer, node: Any, f: Frame) -> int:
    """DuckDB's ``#2 + 1``."""
    _, x = numbered_of_all(t, node, f)
    if t.step is not None:
        t.log.append((t.step, x))
    return x


@handles("DynamicIdentifier")
def dynamic(t: Tracer, node: Any, f: Frame) -> int:
    """Snowflake's ``identifier('a')`` as a column."""
    inner = node.args["this"]
    if isinstance(inner, exp.Literal):
        return unqualified(t, exp.to_identifier(inner.name), f)
    return unresolved(t, printed(inner), "an identifier that a variable names")
