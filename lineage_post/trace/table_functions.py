"""Functions in FROM: explode, flatten, series, declared and undeclared table functions."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from lineage_post.trace.builtin_names import is_builtin, reads_by_text
from lineage_post.trace.commands import command_relation
from lineage_post.trace.declared_shapes import is_declared_map
from lineage_post.trace.expressions import children, evaluate
from lineage_post.trace.file_readers import read_files
from lineage_post.trace.frame import Frame
from lineage_post.trace.methods import as_columns
from lineage_post.trace.opens import OpenUnknown
from lineage_post.trace.provenance import JOIN, transformed
from lineage_post.trace.relation import AnyStep, Relation
from lineage_post.trace.renaming import renamed
from lineage_post.trace.schema_index import split_name
from lineage_post.trace.shapes import Shape, Struct
from lineage_post.trace.table_function_columns import Columns, columns_of, is_reader
from lineage_post.trace.tracer import Tracer
from lineage_post.trace.unnesting import array_of, exploded, listed_columns, name_of_alias
from lineage_post.vocabulary import Reason

_INLINE = tuple(
    cls for name in ("Inline", "InlineOuter") if (cls := getattr(exp, name, None)) is not None
)
_REMOTE = frozenset({"remote", "remotesecure", "cluster", "clusterallreplicas"})
_FLATTEN = ("SEQ", "KEY", "PATH", "INDEX", "VALUE", "THIS")


def lateral_relation(t: Tracer, node: Any, f: Frame) -> Relation:
    """LATERAL and APPLY: a query or function that sees what stands left of it."""
    inner, alias = node.args["this"], node.args.get("alias")
    if isinstance(inner, exp.Query):
        before, f.is_partial = f.is_partial, True
        relation = t.query(t, inner, f.env, f)
        f.is_partial = before
        names = listed_columns(t, alias)
        return renamed(t, relation, names) if names else relation
    if isinstance(inner, exp.Unnest):
        return exploded(t, inner, f, alias)
    return function_relation(t, inner, f, node)


def function_relation(t: Tracer, function: Any, f: Frame, node: Any) -> Relation:
    """The columns of a table function."""
    alias = node.args.get("alias")
    if isinstance(function, exp.Window):
        array_of(t, function, f)
        function = function.args["this"]
    if isinstance(function, exp.Unnest):
        return exploded(t, function, f, alias)
    path = ""
    if isinstance(function, exp.Dot):  # db.f(x)
        path = "".join(f"{part.name}." for part in function.flatten() if part is not function)
        path = path[: path.rfind(".", 0, -1) + 1]
        if t.rules.family == "tsql" and name_of(function.expression).lower() == "nodes":
            x, _ = array_of(t, as_columns(function.args["this"]), f)
            return Relation(t.rules, listed_columns(t, alias), [x], [None])
        function = function.args["expression"]
    if isinstance(function, exp.Literal):  # table('db.t')
        return t.table(split_name(t.spell(exp.to_identifier(function.name))))
    names = listed_columns(t, alias)
    name = name_of(function)
    if name.lower() == "query_table" and isinstance(function.expressions[0], exp.Literal):
        return t.table(split_name(function.expressions[0].name))
    if name.lower() == "view" and isinstance(function.expressions[0], exp.Query):
        return t.query(t, function.expressions[0], f.env, f.outer)  # ClickHouse's view(select)
    contract = t.commands.find(path + name)
    if contract is not None:
        relation = command_relation(t, function, contract, f)
        return relation.renamed(names) if names else relation
    generated = generated_relation(t, function, f, names)
    if generated is not None:
        return generated
    if _is_flatten(t, name):
        return _explode(t, function, f, names)
    if t.rules.name == "oracle" and name.lower() == "table" and function.expressions:
        collection = function.expressions[0]
        last = collection.expression if isinstance(collection, exp.Dot) else collection
        if name_of(last).lower().startswith("odci"):
            return _built_in(t, last, f, node, names, Columns(("COLUMN_VALUE",)))
    if name.lower() in _REMOTE and len(function.expressions) > 1:
        return _remote(t, function)
    if is_reader(name.lower()):
        return read_files(t, function)
    defined = _defined_columns(t, function)
    columns = defined or columns_of(name.lower(), t.rules.family, name_of_alias(t, alias))
    if columns is not None:
        return _built_in(t, function, f, node, names, columns)
    if names and is_builtin(name.lower()) and not reads_by_text(name.lower()):
        return _built_in(t, function, f, node, names, Columns(tuple(names)))
    return _undeclared(t, function, f, names)


def side_by_side(t: Tracer, node: Any, f: Frame) -> Relation:
    """``rows from (f(1), g(2)) with ordinality``: the columns of all of them, row by row."""
    found = [
        function_relation(t, item.args.get("this") or item, f, item)
        for item in node.args["rows_from"]
    ]
    names = [name for one in found for name in one.spellings]
    provenances = [x for one in found for x in one.all()]
    if node.args.get("ordinality"):
        names.append("ordinality")
        provenances.append(0)
    open_ = next((one.open for one in found if one.open is not None), None)
    return Relation(t.rules, names, provenances, [None] * len(names), open_=open_)


def generated_relation(t: Tracer, node: Any, f: Frame, names: list[str]) -> Relation | None:
    """The columns of a row-making function of Spark, or None for another function."""
    if isinstance(node, _INLINE):
        return _inlined(t, node, f, names)
    if isinstance(node, exp.Stack):
        return _stacked(t, node, f, names)
    return _explode(t, node, f, names) if isinstance(node, exp.Explode) else None


def _inlined(t: Tracer, node: Any, f: Frame, names: list[str]) -> Relation:
    """``inline(array of structs)``: a column for each field."""
    array = node.args["this"]
    x, _ = array_of(t, array, f)
    shape = t.expression_shape(array, f)
    element = t.hooks.element_shape(t, shape) if shape is not None else None
    if isinstance(element, Struct):
        fields = element.fields
        renamed = fields.renamed(names[: len(fields.spellings)]) if names else fields
        return Relation(
            t.rules, renamed.spellings, fields.all(), fields.steps,
            open_=fields.open, shapes=fields.shapes,
        )  # fmt: skip
    if names:
        return Relation(t.rules, names, [x] * len(names), [None] * len(names))
    label = t.label(node)
    detail = f"the fields of {label} are not known"
    open_ = OpenUnknown(label, Reason.STAR_UNEXPANDED, detail)
    return Relation(t.rules, (), [], [], open_=open_)


def _stacked(t: Tracer, function: Any, f: Frame, names: list[str]) -> Relation:
    """``stack(2, 'a', a, 'b', b)``: rows of so many columns, filled in order, whatever is in
    them."""
    count = function.args["this"]
    rows = int(count.name) if isinstance(count, exp.Literal) and count.is_int else 1
    values = function.expressions
    width = -(-len(values) // max(rows, 1))
    provenances = [0] * width
    for i, value in enumerate(values):
        provenances[i % width] |= evaluate(t, value, f)
    names = [*names, *(f"col{i}" for i in range(len(names), width))][:width]
    return Relation(t.rules, names, provenances, [None] * width)


def name_of(function: Any) -> str:
    """The name of a function as the dialect writes it, or as sqlglot does."""
    if isinstance(function, exp.Anonymous):
        return str(function.name)
    if isinstance(function, exp.GenerateSeries):
        # DuckDB's range is a series without its end; that of Postgres has a class of its own
        return "range" if function.args.get("is_end_exclusive") else "generate_series"
    return str(function.sql_name() if isinstance(function, exp.Func) else function.key)


def _arguments(t: Tracer, function: Any, f: Frame) -> int:
    """What is passed to a function in FROM: it decides the rows, so it is a JOIN."""
    start = len(t.log)
    before, f.is_partial = f.is_partial, True
    x = transformed(children(t, function, f))
    f.is_partial = before
    t.decide(f, function, start, x, JOIN)
    return x


def _remote(t: Tracer, function: Any) -> Relation:
    """ClickHouse's ``remote('host', db.t)``, ``cluster('name', db.t)``: a table elsewhere."""
    place = function.expressions[1]
    if isinstance(place, exp.Column):
        parts = [place.args[p] for p in ("db", "table", "this") if place.args.get(p)]
        return t.table(tuple(map(t.spell, parts)))
    return t.table(split_name(str(place.name)))


def _defined_columns(t: Tracer, function: Any) -> Columns | None:
    """The columns that JSON_TABLE, XMLTABLE and OPENJSON ... WITH define."""
    schema = function.args.get("schema") if not isinstance(function, exp.Anonymous) else None
    nodes = schema.expressions if schema is not None else function.args.get("columns") or ()
    if not nodes and type(function).__name__ == "OpenJSON":
        nodes = function.expressions
    names: list[str] = []
    ordinals = set()
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        inner = node.args.get("this")
        nested = node.args.get("nested_schema")
        if nested is not None:
            waiting.extend(nested.expressions[::-1])
        elif inner is not None:
            names.append(t.spell(inner) if isinstance(inner, exp.Identifier) else str(inner.name))
            if node.args.get("ordinality"):
                ordinals.add(names[-1])
    return Columns(tuple(names), frozenset(ordinals)) if names else None


def _built_in(
    t: Tracer, function: Any, f: Frame, node: Any, names: list[str], columns: Columns
) -> Relation:
    x = _arguments(t, function, f)
    original = list(columns.names)
    provenances = [0 if n in columns.ordinals else x for n in original]
    if node.args.get("ordinality"):
        original.append("ordinality")
        provenances.append(0)
    spelled = [*names, *original[len(names) :]][: max(len(original), len(names))]
    provenances.extend([x] * (len(spelled) - len(provenances)))
    steps: list[AnyStep] = [None] * len(spelled)
    return Relation(t.rules, spelled, provenances, steps)


def _undeclared(t: Tracer, function: Any, f: Frame, names: list[str]) -> Relation:
    _arguments(t, function, f)
    label = t.label(function)
    detail = f"the columns of {label} are not declared: declare it as a command"
    if not names:
        open_ = OpenUnknown(label, Reason.EXTERNAL, detail)
        return Relation(t.rules, (), [], [], open_=open_)
    unknown = [t.sources.unknown(n, Reason.EXTERNAL, detail) for n in names]
    return Relation(t.rules, names, unknown, [None] * len(names))


def _is_flatten(t: Tracer, name: str) -> bool:
    return t.rules.name == "snowflake" and name.lower() == "flatten"


def _input_of(function: Any) -> Any:
    """What is exploded: the first argument, or that called ``input`` wherever it stands."""
    arguments = [function.args.get("this"), *function.expressions]
    named = {a.this.name.lower(): a.expression for a in arguments if isinstance(a, exp.Kwarg)}
    return named.get("input", arguments[0])


def _explode(t: Tracer, function: Any, f: Frame, names: list[str]) -> Relation:
    array = _input_of(function)
    x, _ = array_of(t, array, f)
    shape = t.expression_shape(array, f)
    if t.rules.name == "snowflake":
        names = [*names, *_FLATTEN[len(names) :]][: len(_FLATTEN)]
        provenances = [0 if n in ("SEQ", "INDEX") else x for n in _FLATTEN]
    else:
        has_position = isinstance(function, exp.Posexplode)
        if not names:
            names = ["pos"] if has_position else []
            names += ["key", "value"] if _is_map(t, array, f) else ["col"]
        provenances = [0 if has_position and n == 0 else x for n in range(len(names))]
    shapes: dict[int, Shape] = {}
    element = t.hooks.element_shape(t, shape) if shape is not None else None
    for i in range(len(names)):
        is_element = t.rules.name != "snowflake" or _FLATTEN[i] == "VALUE"
        if element is not None and provenances[i] and is_element:
            shapes[i] = element
    return Relation(t.rules, names, provenances, [None] * len(names), shapes=shapes)


def _is_map(t: Tracer, node: Any, f: Frame) -> bool:
    """Spark explodes a map into two columns."""
    if isinstance(node, exp.Column):
        return is_declared_map(t, evaluate(t, node, f))
    if isinstance(node, exp.Cast):
        return bool(node.to.is_type("map"))
    schema = node.args.get("expression") if type(node).__name__ == "FromJson" else None
    if isinstance(schema, exp.Literal):
        return str(schema.name).lower().startswith("map")
    name = name_of(node).lower() if isinstance(node, exp.Func) else ""
    is_part = name in ("map_keys", "map_values", "map_entries")
    return (name.startswith("map") and not is_part) or name in ("var_map", "str_to_map")
