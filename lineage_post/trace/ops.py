"""The named operations on an edge, read from what a step logged."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from sqlglot import exp

from lineage_post.trace.provenance import collapsed
from lineage_post.trace.relation import Arms, Step
from lineage_post.trace.result import Op
from lineage_post.trace.tracer import Tracer
from lineage_post.vocabulary import OpKind

#: An operation and the influences that pass through it.
Applied = tuple[Op, int]

_SYMBOLS = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%", "IntDiv": "//", "Pow": "^",
    "DPipe": "||", "SafeDPipe": "||", "EQ": "=", "NEQ": "<>", "GT": ">", "GTE": ">=", "LT": "<",
    "LTE": "<=", "NullSafeEQ": "IS NOT DISTINCT FROM", "NullSafeNEQ": "IS DISTINCT FROM",
    "Is": "IS", "Like": "LIKE", "ILike": "ILIKE", "SimilarTo": "SIMILAR TO", "Between": "BETWEEN",
    "In": "IN", "Not": "NOT", "Neg": "-", "BitwiseAnd": "&", "BitwiseOr": "|", "BitwiseXor": "^",
    "BitwiseLeftShift": "<<", "BitwiseRightShift": ">>", "BitwiseNot": "~", "Bracket": "[]",
    "Dot": ".", "Case": "CASE", "Slice": ":", "RegexpLike": "REGEXP", "Glob": "GLOB",
    "Overlaps": "OVERLAPS", "ArrayContainsAll": "@>", "ArrayOverlaps": "&&", "Collate": "COLLATE",
    "AtTimeZone": "AT TIME ZONE", "JSONExtract": "->", "JSONExtractScalar": "->>",
}  # fmt: skip
#: Nodes that are syntax and no operation of their own.
_SILENT = {
    "Tuple",
    "Paren",
    "Interval",
    "Where",
    "Ordered",
    "WindowSpec",
    "Any",
    "All",
    "PropertyEQ",
}


@lru_cache(maxsize=4096)
def _op(name: str, kind: OpKind) -> Op:
    return Op(name, kind)


IDENTITY_OP = _op("identity", OpKind.IDENTITY)
_NO_OP = Op("", OpKind.IDENTITY)
#: So many steps stand on each other before they are worked out in a loop.
_DEEP = 100


def command_op(name: str) -> Op:
    """The operation of a declared function."""
    return _op(name, OpKind.COMMAND)


class Operations:
    """The operations of each step, worked out once."""

    def __init__(self, t: Tracer) -> None:
        self._tracer = t
        self._known: dict[int, list[Applied]] = {}
        #: Steps that are being worked out one by one.
        self._open: set[int] = set()
        self._depth = 0
        self._linked: set[int] = set()

    def of(self, step: Step | Arms) -> list[Applied]:
        """The operations on the way to a column, in the order they are applied."""
        known = self._known.get(id(step))
        if known is not None:
            return known
        if self._depth > _DEEP and id(step) not in self._open:
            self._work_out([step])
            return self._known[id(step)]
        # A recursion refers to itself: while a step is worked out, it adds nothing.
        self._known[id(step)] = []
        self._depth += 1
        found = self._arms(step) if step.__class__ is Arms else self._logged(step)  # type: ignore[arg-type]
        self._depth -= 1
        self._known[id(step)] = found
        return found

    def has_links(self, step: Step | Arms) -> bool:
        """Whether a step that was asked for refers to other steps."""
        return id(step) in self._linked or step.__class__ is Arms

    def _work_out(self, waiting: list[Step | Arms]) -> None:
        """Works out steps and all they stand on, deepest first: chains may be long."""
        self._open.update(map(id, waiting))
        while waiting:
            current = waiting[-1]
            if id(current) in self._known:
                waiting.pop()
                continue
            missing = [s for s in self._below(current) if id(s) not in self._open]
            if missing:
                self._open.update(map(id, missing))
                waiting.extend(missing)
                continue
            self.of(current)
            waiting.pop()

    def _below(self, step: Step | Arms) -> list[Step | Arms]:
        """The steps that a step refers to and that are not worked out yet."""
        known = self._known
        if isinstance(step, Arms):
            return [arm for arm in step.steps if arm is not None and id(arm) not in known]
        below = [what for what, _ in self._tracer.log[step.start : step.end]]
        return [s for s in below if isinstance(s, (Step, Arms)) and id(s) not in known]

    def _arms(self, arms: Arms) -> list[Applied]:
        found: dict[Applied, None] = {}
        for arm in arms.steps:
            if arm is not None:
                found.update(dict.fromkeys(self.of(arm)))
        return list(found)

    def _logged(self, step: Step) -> list[Applied]:
        found: list[Applied] = []
        starts: list[int] = []
        has_links = False
        n = step.start
        for what, x in self._tracer.log[n : step.end]:
            cls = what.__class__
            if cls is Step or cls is Arms:
                below = self.of(what)
                found += below
                starts += [n] * len(below)
                has_links = True
            elif cls is int:
                _act_as(found, starts, what, x)
            else:
                op = what if cls is Op else _symbol(cls)
                if op is None:
                    op = self._function(what)
                if op is not _NO_OP:
                    found.append((op, x))
                    starts.append(n)
            n += 1
        if not has_links:
            return found
        self._linked.add(id(step))
        return list(dict.fromkeys(found))

    def _function(self, node: Any) -> Op:
        """The function as this dialect writes it, else as sqlglot calls it."""
        meta = node._meta
        if meta is not None and "start" in meta:
            op = _written_function(self._tracer.tokens.sql[meta["start"] : meta["end"] + 1])
            if op is not None:
                return op
        if isinstance(node, exp.Func):
            name = str(node.name if isinstance(node, exp.Anonymous) else node.sql_name())
            return _op(name.upper(), OpKind.SQL_FUNCTION)
        return _op(str(node.key).upper(), OpKind.SQL_FUNCTION)


@lru_cache(maxsize=4096)
def _written_function(written: str) -> Op | None:
    if written.replace("_", "").replace(".", "").isalnum():
        return _op(written.upper(), OpKind.SQL_FUNCTION)
    return None


@cache
def _symbol(cls: type) -> Op | None:
    """The operation of a class of nodes, where it is the same for all of them."""
    symbol = _SYMBOLS.get(cls.__name__)
    if symbol is not None:
        return _op(symbol, OpKind.OPERATOR)
    if cls.__name__ in _SILENT:
        return _NO_OP
    return _op("CAST", OpKind.SQL_FUNCTION) if issubclass(cls, exp.Cast) else None


def _act_as(found: list[Applied], starts: list[int], since: int, kind: int) -> None:
    """What was logged since then acts as another kind, such as the condition of a CASE."""
    k = len(found) - 1
    while k >= 0 and starts[k] >= since:
        found[k] = (found[k][0], collapsed(found[k][1], kind))
        k -= 1
