"""The walk over expressions: a handler per node type, only where the kind of influence changes.

The default is the union of the children as TRANSFORMATION, so that a function nobody has heard of
stays sound. Left-deep chains (``a || b || c ...``) are walked in a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from lineage_post.trace.dialects import Visible
from lineage_post.trace.frame import Frame
from lineage_post.trace.provenance import transformed
from lineage_post.trace.resolve import resolve, unqualified
from lineage_post.trace.tracer import Tracer

Handler = Callable[[Tracer, Any, Frame], int]

_REGISTERED: dict[type, Handler] = {}
_OF_ROWS = (exp.AggFunc, exp.Filter, exp.WithinGroup)
#: sqlglot files them under AggFunc, they aggregate nothing.
_OF_OTHER_ROWS = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)


class _Handlers(dict[type, Handler]):
    """Handlers by exact class, filled as classes are met: what is no node gives nothing."""

    def __missing__(self, cls: type) -> Handler:
        handler = _nearest(cls) if issubclass(cls, exp.Expr) else nothing
        if issubclass(cls, _OF_ROWS) and not issubclass(cls, _OF_OTHER_ROWS):
            handler = of_rows(handler)
        self[cls] = handler
        return handler


HANDLERS = _Handlers()


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Registers a handler for node classes by name; a class this sqlglot lacks is passed over."""

    def register(handler: Handler) -> Handler:
        for name in names:
            cls = getattr(exp, name, None)
            if cls is not None:
                _REGISTERED[cls] = handler
        return handler

    return register


def of_rows(handler: Handler) -> Handler:
    """The handler of an aggregate. It is of the rows that FROM reads: within it, a column comes
    before an output of the same name, whatever the clause."""

    def inside(t: Tracer, node: Any, f: Frame) -> int:
        if f.alias_visible is not Visible.BEFORE_COLUMNS or t.rules.everywhere_alias_first:
            return handler(t, node, f)
        f.alias_visible = Visible.AFTER_COLUMNS
        x = handler(t, node, f)
        f.alias_visible = Visible.BEFORE_COLUMNS
        return x

    return inside


def evaluate(t: Tracer, node: Any, f: Frame) -> int:
    """The provenance of an expression."""
    return HANDLERS[node.__class__](t, node, f)


def _nearest(cls: type) -> Handler:
    for base in cls.__mro__:
        found = _REGISTERED.get(base)
        if found is _operator and issubclass(cls, exp.Func):
            return computed
        if found is not None:
            return found
    return computed


def children(t: Tracer, node: Any, f: Frame) -> int:
    """The union of the children, as they are."""
    x = 0
    for value in node.args.values():
        if value is None or value is False:
            continue
        if value.__class__ is list:
            for item in value:
                x |= HANDLERS[item.__class__](t, item, f)
        else:
            x |= HANDLERS[value.__class__](t, value, f)
    return x


def computed(t: Tracer, node: Any, f: Frame) -> int:
    """The default: computed from every child."""
    x = children(t, node, f)
    if x:
        x = transformed(x)
        if t.masking_types and type(node) in t.masking_types:
            x = t.sources.masked(x)
        t.log.append((node, x))
    return x


@handles(
    "Literal", "Identifier", "Var", "DataType", "DataTypeParam", "Boolean", "Null", "JSONPath",
    "JSONPathPart", "IntervalSpan", "Placeholder", "SessionParameter", "RowNumber", "Hint",
    "National", "HexString", "BitString", "ByteString", "RawString", "CurrentDate",
    "CurrentTimestamp", "CurrentTime", "CurrentUser",
)  # fmt: skip
def nothing(t: Tracer, node: Any, f: Frame) -> int:
    """Constants, names of types and such: nothing flows."""
    return 0


@handles("Ordered", "IgnoreNulls", "RespectNulls", "Distinct", "Limit")
def passed(t: Tracer, node: Any, f: Frame) -> int:
    """What stands inside, unchanged."""
    return children(t, node, f)


@handles("Paren")
def parenthesized(t: Tracer, node: Any, f: Frame) -> int:
    inner = node.args["this"]
    return HANDLERS[inner.__class__](t, inner, f)


@handles("Alias")
def aliased(t: Tracer, node: Any, f: Frame) -> int:
    return evaluate(t, node.args["this"], f)


@handles("Column")
def column(t: Tracer, node: Any, f: Frame) -> int:
    if node.args["this"].__class__ is exp.Star:
        return HANDLERS[exp.Star](t, node, f)
    x = resolve(t, node, f)
    step = t.step
    if step is not None:
        t.log.append((step, x))
    return x


@handles("Binary")
def _operator(t: Tracer, node: Any, f: Frame) -> int:
    args = node.args
    right, left = args.get("expression"), args.get("this")
    handler = HANDLERS[left.__class__]
    if handler is _operator or left is None or right is None:
        return _chained(t, node, f)
    x = HANDLERS[right.__class__](t, right, f) | handler(t, left, f)
    if x:
        x = transformed(x)
        t.log.append((node, x))
    return x


def _chained(t: Tracer, node: Any, f: Frame) -> int:
    """``a || b || c ...``: a chain of the same operators is logged once."""
    x = 0
    chain = []
    while True:
        chain.append(node)
        args = node.args
        right = args.get("expression")
        if right is not None:
            x |= HANDLERS[right.__class__](t, right, f)
        left = args.get("this")
        if left is None:
            break
        handler = HANDLERS[left.__class__]
        if handler is not _operator:
            x |= handler(t, left, f)
            break
        node = left
    if x:
        x = transformed(x)
        seen = None
        for operation in chain:
            if type(operation) is not seen:
                seen = type(operation)
                t.log.append((operation, x))
    return x


@handles("Connector", "And", "Or", "Xor")
def _connected(t: Tracer, node: Any, f: Frame) -> int:
    """``a and b and c``: the conditions; the word itself is no operation worth a name."""
    x = 0
    while True:
        args = node.args
        x |= evaluate(t, args["expression"], f)
        left = args["this"]
        handler = HANDLERS[left.__class__]
        if handler is not _connected:
            return transformed(x | handler(t, left, f))
        node = left


@handles("PropertyEQ", "Kwarg")
def named_argument(t: Tracer, node: Any, f: Frame) -> int:
    """``f(a => x)``: the value; the name is no column. The key of ``map {a || b: x}`` may be of
    some."""
    x = evaluate(t, node.args["expression"], f)
    key = node.args["this"]
    return x if key.find(exp.Column) is None else x | evaluate(t, key, f)


@handles("Identifier")
def identifier(t: Tracer, node: Any, f: Frame) -> int:
    """The body of a lambda names its variables by bare identifiers."""
    return unqualified(t, node, f) if f.bindings else 0
