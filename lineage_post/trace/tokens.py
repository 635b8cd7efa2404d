"""Where an expression stands in the text, by its tokens; None where that is not sure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import TokenType, exp

from lineage_post.trace.token_list import AFTER_ALIAS, SPREADS, TokenList

#: What may stand behind a type of one word.
_AFTER_TYPE = AFTER_ALIAS | {
    TokenType.ALIAS, TokenType.AND, TokenType.OR, TokenType.EQ, TokenType.NEQ, TokenType.GT,
    TokenType.GTE, TokenType.LT, TokenType.LTE, TokenType.PLUS, TokenType.DASH, TokenType.STAR,
    TokenType.SLASH, TokenType.DPIPE, TokenType.BETWEEN, TokenType.IN, TokenType.IS,
    TokenType.NOT, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.THEN, TokenType.WHEN,
    TokenType.ELSE, TokenType.END,
}  # fmt: skip
_CONSTANTS = frozenset({TokenType.TRUE, TokenType.FALSE, TokenType.NULL})
#: Right sides that do not say where they stand.
_WITHOUT_POSITION = frozenset({exp.Boolean, exp.Null, exp.Subquery})
#: What ``not`` can stand within.
_WITH_NOT_WITHIN = (exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.SimilarTo)
_AND_OR = frozenset({exp.And, exp.Or})
#: Operators that a call may have been parsed as.
_ALSO_CALLS = _AND_OR | {
    exp.Mod, exp.IntDiv, exp.Like, exp.ILike, exp.Glob, exp.Escape, exp.Xor, exp.BitwiseAnd,
    exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift,
}  # fmt: skip
_BEFORE_ARGUMENT = frozenset({TokenType.COMMA, TokenType.L_PAREN})
_LEFT_FIRST = (exp.Between, exp.In, exp.Connector, exp.Window, exp.Filter)
_COLUMN_PARTS = ("catalog", "db", "table", "this")


class Tokens(TokenList):
    """The tokens of a statement, and the first and the last one of each of its expressions."""

    __slots__ = ("_firsts", "_lasts")

    def __init__(self, sql: str, tokens: Sequence[Any]) -> None:
        super().__init__(sql, tokens)
        #: What was found, by the identity of a node, which is kept: the start of a cast asks for
        #: the end of what is cast and that for its start, twice as often with each level.
        self._firsts: dict[int, tuple[Any, int | None]] = {}
        self._lasts: dict[int, tuple[Any, int | None]] = {}

    def text_of(self, node: Any) -> str | None:
        """An expression as it is written, where both of its ends can be told."""
        first = self.first_of(node)
        last = None if first is None else self.last_of(node)
        if first is None or last is None or last < first:
            return None
        return self.slice(first, last)

    def first_of(self, node: Any) -> int | None:
        """The first token of an expression."""
        while _starts_with_its_left_side(node):
            if self.is_call(node):
                return None
            node = node.args["this"]
        cls = node.__class__
        if cls is exp.Column:
            return self.at(next(node.args[p] for p in _COLUMN_PARTS if node.args.get(p)))
        found = self._firsts.get(id(node))
        if found is None:
            found = self._firsts[id(node)] = node, self._first_of(node, cls)
        return found[1]

    def _first_of(self, node: Any, cls: Any) -> int | None:
        if cls is exp.Paren:
            inner = node.args["this"]
            if inner.__class__ is exp.Is and self._is_closed(inner.args["this"]):
                return None  # MySQL's ``isnull(a)``
            return self._preceded(inner, TokenType.L_PAREN)
        if cls is exp.Neg:
            return self._preceded(node.args["this"], TokenType.DASH)
        if cls is exp.Not:
            return self._first_of_not(node.args["this"])
        if cls is exp.Case:
            return self._first_of_case(node.args)
        if cls is exp.Subquery:
            return self._before(self._first_of_select(node.args["this"]), TokenType.L_PAREN)
        if cls is exp.Exists:
            inner = self._before(self._first_of_select(node.args["this"]), TokenType.L_PAREN)
            return self._before(inner, TokenType.EXISTS)
        if cls is exp.Literal or isinstance(node, exp.Func):
            at = self.at(node)
            return self._called(node) if at is None else at
        return None

    def is_call(self, node: Any) -> bool:
        """Whether ``mod(a, b)`` was parsed as ``a % b``: no operator is before its right side."""
        if node.__class__ not in _ALSO_CALLS:
            return False
        first = self.first_of(node.args["expression"])
        if not first:
            return node.__class__ not in _AND_OR
        return self.tokens[first - 1].token_type in _BEFORE_ARGUMENT

    def _is_closed(self, node: Any) -> bool:
        return self._followed(self.last_of(node), TokenType.R_PAREN) is not None

    def _preceded(self, inner: Any, kind: Any) -> int | None:
        return self._before(self.first_of(inner), kind)

    def _first_of_not(self, inner: Any) -> int | None:
        """``not x`` begins with the word; ``a is not null``, ``a not in (...)`` with their left."""
        if isinstance(inner, _WITH_NOT_WITHIN) and not inner.args.get("negate"):
            last = self.last_of(inner.args["this"])
            is_word = self._followed(last, TokenType.IS)
            if self._followed(last if is_word is None else is_word, TokenType.NOT) is not None:
                return self.first_of(inner)
        return self._preceded(inner, TokenType.NOT)

    def _first_of_case(self, a: Any) -> int | None:
        if a.get("this") is not None:
            return self._preceded(a["this"], TokenType.CASE)
        return self._before(
            self._preceded(a["ifs"][0].args["this"], TokenType.WHEN), TokenType.CASE
        )

    def _first_of_select(self, node: Any) -> int | None:
        """The word SELECT, before its first item; a star stands right before FROM."""
        items = node.args.get("expressions")
        if node.__class__ is not exp.Select or not items or node.args.get("with_") is not None:
            return None
        item = items[0].args["this"] if items[0].__class__ is exp.Alias else items[0]
        first = self.first_of(item)
        from_ = node.args.get("from_")
        if item.__class__ is exp.Star and from_ is not None:
            table = from_.args["this"]
            if table.__class__ is exp.Table and table.args.get("db") is None:
                first = self._before(self.at(table.args["this"]), TokenType.FROM)
                first = self._before(first, TokenType.STAR)
        if first and self.tokens[first - 1].token_type in SPREADS:
            first -= 1
        return self._before(first, TokenType.SELECT)

    def _called(self, node: Any) -> int | None:
        """The name of a function that does not say where it stands, before its first argument."""
        argument = node.args.get("this")
        if not isinstance(argument, exp.Expr):
            return None
        first = self.first_of(argument)
        if isinstance(node, exp.Cast):
            after = self.last_of(argument)
            if self._followed(after, TokenType.DCOLON) is not None:
                return first
            if self._followed(after, TokenType.ALIAS) is None:
                return None
        name = self._before(first, TokenType.L_PAREN)
        if not name or self.tokens[name - 1].text.upper() not in node.sql_names():
            return None
        return name - 1

    def last_of(self, node: Any) -> int | None:
        """The last token of an expression."""
        if node.__class__ is exp.Column or node.__class__ is exp.Literal:
            return self._last_of(node)
        found = self._lasts.get(id(node))
        if found is None:
            found = self._lasts[id(node)] = node, self._last_of(node)
        return found[1]

    def _last_of(self, node: Any) -> int | None:
        while True:
            a = node.args
            cls = node.__class__
            if cls is exp.Column:  # Oracle's ``a (+)`` has no place for what is behind the name
                return self.at(a["this"]) if not a.get("join_mark") else None
            if cls is exp.Literal:
                return self.at(node)
            if cls is exp.Paren:
                return self._followed(self.last_of(a["this"]), TokenType.R_PAREN)
            if cls is exp.In:
                return self._closing(self._in(self.last_of(a["this"])))
            if cls is exp.Not:
                return self._last_of_not(a["this"])
            if cls is exp.Case:
                return self._end(self.first_of(node))
            if cls is exp.Subquery or cls is exp.Exists:
                return self._last_of_query(node)
            if cls is exp.Window or cls is exp.Filter:
                word = TokenType.OVER if cls is exp.Window else TokenType.FILTER
                return self._closing(self._followed(self.last_of(a["this"]), word))
            if cls is exp.Between:
                node = a["high"]
            elif cls is exp.Neg:
                node = a["this"]
            elif _is_path(node):
                return self._end_of_path(self.last_of(a["this"]))
            elif isinstance(node, exp.Func) and not isinstance(node, exp.Connector):
                return self._last_of_function(node)
            elif isinstance(node, exp.Binary) and cls is not exp.Dot:
                if cls not in _AND_OR and self.is_call(node):
                    return None
                if a["expression"].__class__ in _WITHOUT_POSITION:
                    last = self.last_of(a["this"])
                    if a.get("negate"):  # Postgres' ``a is not null`` is no NOT
                        last = self._followed(last, TokenType.IS)
                    return self._operand(last)
                node = a["expression"]
            else:
                return None

    def _in(self, last: int | None) -> int | None:
        negated = self._followed(last, TokenType.NOT)
        return self._followed(last if negated is None else negated, TokenType.IN)

    def _operand(self, last: int | None) -> int | None:
        """What stands behind an operator of one word: a constant, or a subquery."""
        if last is None or last + 2 >= len(self.tokens):
            return None
        if self.tokens[last + 2].token_type in _CONSTANTS:
            return last + 2
        return self._closing(last + 1)

    def _last_of_not(self, inner: Any) -> int | None:
        """``a is not null`` is parsed as a negation of ``a is null``; ``not x`` ends with x."""
        if inner.__class__ is exp.Is and not inner.args.get("negate"):
            word = self._followed(self.last_of(inner.args["this"]), TokenType.IS)
            if self._followed(word, TokenType.NOT) is not None:
                return self._operand(word)
        return self.last_of(inner)

    def _last_of_function(self, node: Any) -> int | None:
        if isinstance(node, exp.Cast):
            colons = self._followed(self.last_of(node.args["this"]), TokenType.DCOLON)
            if colons is not None:
                return self._type_after(colons)
        return self._closing(self.first_of(node))

    def _last_of_query(self, node: Any) -> int | None:
        first = self.first_of(node)
        if first is None:
            return None
        return self._closing(first if node.__class__ is exp.Exists else first - 1)

    def _type_after(self, colons: int) -> int | None:
        """The end of ``::int`` and ``::decimal(10, 2)``; of other types it is not sure."""
        last = self._closing(colons + 1) or colons + 1
        follows = self.tokens[last + 1 : last + 2]
        return last if not follows or follows[0].token_type in _AFTER_TYPE else None


def _starts_with_its_left_side(node: Any) -> bool:
    if isinstance(node, _LEFT_FIRST) or _is_path(node):
        return True
    return isinstance(node, exp.Binary) and not isinstance(node, (exp.Func, exp.Dot))


def _is_path(node: Any) -> bool:
    """``v:a.b`` of Snowflake and Databricks."""
    return node.__class__ is exp.JSONExtract and bool(node.args.get("variant_extract"))
