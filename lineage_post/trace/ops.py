"""The named operations on an edge, read from what a step logged."""

from __future__ import annotations

from functools import lru_cache
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


def command_op(name: str) -> Op:
    """The operation of a declared function."""
    return _op(name, OpKind.COMMAND)


class Operations:
    """The operations of each step, worked out once."""

    def __init__(self, t: Tracer) -> None:
        self._tracer = t
        self._known: dict[int, list[Applied]] = {}
        #: Steps that are being worked out: a recursion refers to itself.
        self._open: set[int] = set()

    def of(self, step: Step | Arms) -> list[Applied]:
        """The operations on the way to a column, in the order they are applied."""
        known = self._known.get(id(step))
        if known is not None:
            return known
        below = self._below(step)
        if below:
            self._work_out(below)
        return self._kept(step)

    def _kept(self, step: Step | Arms) -> list[Applied]:
        found = self._arms(step) if isinstance(step, Arms) else self._logged(step)
        self._known[id(step)] = found
        return found

    def _work_out(self, waiting: list[Step | Arms]) -> None:
        """Works out steps and all they stand on, deepest first; chains may be long."""
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
            self._kept(current)
            waiting.pop()

    def _below(self, step: Step | Arms) -> list[Step | Arms]:
        """The steps that a step refers to and that are not worked out yet."""
        known = self._known
        if isinstance(step, Arms):
            return [arm for arm in step.steps if arm is not None and id(arm) not in known]
        log = self._tracer.log
        found = []
        for n in range(step.start, step.end):
            what = log[n][0]
            if (what.__class__ is Step or what.__class__ is Arms) and id(what) not in known:
                found.append(what)
        return found

    def _arms(self, arms: Arms) -> list[Applied]:
        found: dict[Applied, None] = {}
        for arm in arms.steps:
            if arm is not None:
                found.update(dict.fromkeys(self._known.get(id(arm), ())))
        return list(found)

    def _logged(self, step: Step) -> list[Applied]:
        log = self._tracer.log
        found: list[Applied] = []
        starts: list[int] = []
        has_links = False
        for n in range(step.start, step.end):
            what, x = log[n]
            if what.__class__ is int:
                _act_as(found, starts, what, x)
            elif what.__class__ is Step or what.__class__ is Arms:
                below = self._known.get(id(what), ())
                found.extend(below)
                starts.extend([n] * len(below))
                has_links = True
            else:
                op = self._named(what)
                if op is not None:
                    found.append((op, x))
                    starts.append(n)
        return list(dict.fromkeys(found)) if has_links else found

    def _named(self, node: Any) -> Op | None:
        if node.__class__ is Op:
            return node  # type: ignore[no-any-return]
        name = node.__class__.__name__
        symbol = _SYMBOLS.get(name)
        if symbol is not None:
            return _op(symbol, OpKind.OPERATOR)
        if name in _SILENT:
            return None
        return _op(self._function_name(node), OpKind.SQL_FUNCTION)

    def _function_name(self, node: Any) -> str:
        """The function as this dialect writes it, else as sqlglot calls it."""
        if isinstance(node, exp.Cast):
            return "CAST"
        meta = node._meta
        if meta is not None and "start" in meta:
            written = self._tracer.tokens.sql[meta["start"] : meta["end"] + 1]
            if written.replace("_", "").replace(".", "").isalnum():
                return written.upper()
        if isinstance(node, exp.Func):
            return str(node.name if isinstance(node, exp.Anonymous) else node.sql_name()).upper()
        return str(node.key).upper()


def _act_as(found: list[Applied], starts: list[int], since: int, kind: int) -> None:
    """What was logged since then acts as another kind, such as the condition of a CASE."""
    k = len(found) - 1
    while k >= 0 and starts[k] >= since:
        found[k] = (found[k][0], collapsed(found[k][1], kind))
        k -= 1
