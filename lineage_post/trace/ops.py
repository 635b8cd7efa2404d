"""The named operations on an edge, read from what a step logged."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Optional

from sqlglot import exp

from lineage_post.trace.provenance import collapsed
from lineage_post.trace.relation import AnyStep, Arms, Step
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
_SILENT = {"Tuple", "Paren", "Interval", "Where", "Ordered", "WindowSpec", "Any", "All", "PropertyEQ"}


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

    def of(self, step: AnyStep) -> list[Applied]:
        """The operations on the way to a column, in the order they are applied."""
        if step is None:
            return []
        known = self._known.get(id(step))
        if known is None:
            self._known[id(step)] = []
            known = self._arms(step) if isinstance(step, Arms) else self._logged(step)
            self._known[id(step)] = known
        return known

    def _arms(self, arms: Arms) -> list[Applied]:
        found: dict[Applied, None] = {}
        for arm in arms.steps:
            found.update(dict.fromkeys(self.of(arm)))
        return list(found)

    def _logged(self, step: Step) -> list[Applied]:
        log = self._tracer.log
        found: list[Applied] = []
        starts: list[int] = []
        for n in range(step.start, step.end):
            what, x = log[n]
            if what.__class__ is int:
                for k in range(len(found)):
                    if starts[k] >= what:
                        found[k] = (found[k][0], collapsed(found[k][1], x))
            elif what.__class__ is Step or what.__class__ is Arms:
                for applied in self.of(what):
                    found.append(applied)
                    starts.append(n)
            else:
                op = self._named(what)
                if op is not None:
                    found.append((op, x))
                    starts.append(n)
        return found

    def _named(self, node: Any) -> Optional[Op]:
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
            written = self._tracer.sql[meta["start"] : meta["end"] + 1]
            if written.replace("_", "").replace(".", "").isalnum():
                return written.upper()
        if isinstance(node, exp.Func):
            return str(node.name if isinstance(node, exp.Anonymous) else node.sql_name()).upper()
        return str(node.key).upper()
