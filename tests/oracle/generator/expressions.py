"""Expressions at random, by type."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.generator.scope import Dice, Scope

#: Makes a subquery that gives one column of a type inside a scope: text of its select.
Subquery = Callable[[Dice, Scope, str], str]


class Expressions:
    """Writes expressions; ``subquery`` is given by the module that writes queries."""

    def __init__(self, dice: Dice, subquery: Subquery) -> None:
        self.dice = dice
        self._subquery = subquery

    def value(self, scope: Scope, kind: str, depth: int = 2) -> str:
        """An expression of type int or text."""
        return self.integer(scope, depth) if kind == "int" else self.text(scope, depth)

    def column(self, scope: Scope, kind: str) -> str:
        """A column of that type, at times one of the scope around; a constant if there is none."""
        dice = self.dice
        if scope.outer is not None and dice.chance(20) and scope.outer.references(kind):
            qualified = [name for name in scope.outer.references(kind) if "." in name]
            return dice.pick(qualified)
        written = scope.references(kind)
        if written:
            return dice.pick(written)
        return {"int": "7", "text": "'t'", "list": "[1, 2]"}.get(kind, "{'p': 1, 'q': 2}")

    def integer(self, scope: Scope, depth: int = 2) -> str:
        dice = self.dice
        if depth <= 0 or dice.chance(45):
            return self.column(scope, "int")
        one, other = self.integer(scope, depth - 1), self.integer(scope, depth - 1)
        match dice.weighted(
            plus=4, constant=1, case=3, simple=1, coalesce=2, nullif=1, greatest=1, length=1,
            element=1, field=2, scalar=2, cast=1, flag=1, lambda_=1,
        ):  # fmt: skip
            case "plus":
                return f"({one} {dice.pick(['+', '-', '*'])} {other})"
            case "constant":
                return str(dice.number(0, 5))
            case "case":
                return f"case when {self.predicate(scope, depth - 1)} then {one} else {other} end"
            case "simple":
                return f"case {one} when {dice.number(0, 3)} then {other} when {one} then 1 end"
            case "coalesce":
                return f"coalesce({one}, {other})"
            case "nullif":
                return f"nullif({one}, {other})"
            case "greatest":
                return f"greatest({one}, {other})"
            case "length":
                return f"length({self.text(scope, depth - 1)})"
            case "element":
                return f"({self.column(scope, 'list')})[1]"
            case "field":
                return f"({self.column(scope, 'struct')}).{dice.pick(['p', 'q'])}"
            case "scalar" if not dice.is_deep:
                return f"({self._subquery(dice, scope, 'scalar')})"
            case "flag":
                return f"({self.predicate(scope, depth - 1)})::int"
            case "lambda_":
                array = self.column(scope, "list")
                return f"list_sum(list_transform({array}, lambda e: e + {one}))::int"
            case _:
                return f"cast({one} as integer)"

    def text(self, scope: Scope, depth: int = 2) -> str:
        dice = self.dice
        if depth <= 0 or dice.chance(50):
            return self.column(scope, "text")
        match dice.weighted(upper=2, join=2, cast=2, case=1, coalesce=1):
            case "upper":
                return f"upper({self.text(scope, depth - 1)})"
            case "join":
                return f"({self.text(scope, depth - 1)} || {self.text(scope, depth - 1)})"
            case "cast":
                return f"cast({self.integer(scope, depth - 1)} as varchar)"
            case "case":
                texts = self.text(scope, depth - 1), self.text(scope, depth - 1)
                return f"if({self.predicate(scope, depth - 1)}, {texts[0]}, {texts[1]})"
            case _:
                return f"coalesce({self.text(scope, depth - 1)}, 'none')"

    def predicate(self, scope: Scope, depth: int = 2) -> str:
        dice = self.dice
        one = self.integer(scope, min(depth, 1))
        match dice.weighted(
            compare=6,
            constant=4,
            between=1,
            listed=1,
            null=1,
            like=1,
            both=2,
            member=2,
            exists=2,
            any_=1,
        ):
            case "constant":
                return f"{one} {dice.pick(['>', '<', '=', '<>', '>='])} {dice.number(0, 3)}"
            case "between":
                return f"{one} between {dice.number(-1, 1)} and {self.integer(scope, 0)}"
            case "listed":
                return f"{one} in ({self.integer(scope, 0)}, {dice.number(0, 3)})"
            case "null":
                return f"{one} is {dice.pick(['', 'not '])}null"
            case "like":
                return f"{self.text(scope, 1)} like '%{dice.pick('abk')}%'"
            case "both" if depth > 0:
                parts = self.predicate(scope, depth - 1), self.predicate(scope, depth - 1)
                return f"({parts[0]} {dice.pick(['and', 'or'])} {parts[1]})"
            case "member" if not dice.is_deep:
                return f"{one} {dice.pick(['', 'not '])}in ({self._subquery(dice, scope, 'int')})"
            case "exists" if not dice.is_deep:
                return (
                    f"{dice.pick(['', 'not '])}exists ({self._subquery(dice, scope, 'correlated')})"
                )
            case "any_" if not dice.is_deep:
                return (
                    f"{one} {dice.pick(['=', '>', '<'])} any ({self._subquery(dice, scope, 'int')})"
                )
            case _:
                return f"{one} {dice.pick(['=', '>', '<', '<>'])} {self.integer(scope, 0)}"

    def aggregate(self, scope: Scope) -> tuple[str, str]:
        """An aggregate and its type."""
        dice = self.dice
        value = self.integer(scope, 1)
        match dice.weighted(
            sum=5,
            max=2,
            count=2,
            star=1,
            distinct=1,
            filter=2,
            joined=2,
            arg=2,
            picked=1,
            case=1,
            mid=1,
            listed=1,
        ):
            case "max":
                return f"{dice.pick(['max', 'min'])}({value})", "int"
            case "count":
                return f"count({value})", "int"
            case "star":
                return "count(*)", "int"
            case "distinct":
                return f"count(distinct {value})", "int"
            case "filter":
                return f"sum({value}) filter (where {self.predicate(scope, 0)})::int", "int"
            case "joined":
                order = f"{self.integer(scope, 0)}, {self.text(scope, 0)}"
                return f"string_agg({self.text(scope, 1)}, ',' order by {order})", "text"
            case "arg":
                # keys that tie would let the engine's own order pick the value
                key = f"({self.integer(scope, 0)})::bigint * 1000 + {value}"
                return f"{dice.pick(['arg_max', 'arg_min'])}({value}, {key})", "int"
            case "picked":
                return f"first({value} order by {self.integer(scope, 0)}, {value})", "int"
            case "case":
                return f"sum(case when {self.predicate(scope, 0)} then {value} end)::int", "int"
            case "mid":
                return f"quantile_disc({value}, 0.5)", "int"
            case "listed":
                return f"len(list({value} order by {self.integer(scope, 0)}))", "int"
            case _:
                return f"sum({value})::int", "int"

    def window(self, scope: Scope, names: tuple[str, ...] = ()) -> str:
        """A window function of type int."""
        dice = self.dice
        value = self.integer(scope, 1)
        function = dice.pick(
            ["row_number()", "rank()", f"sum({value})", f"max({value})", f"min({value})",
             "count(*)", f"lag({value})", f"first_value({value})",
             f"lead({value}, 1, {self.integer(scope, 0)})",
             f"sum({value}) filter (where {self.predicate(scope, 0)})"]
        )  # fmt: skip
        if names and dice.chance(30):
            return f"({function} over {dice.pick(names)})::int"
        return f"({function} over ({self.window_body(scope)}))::int"

    def window_body(self, scope: Scope) -> str:
        dice = self.dice
        partition = f"partition by {self.integer(scope, 0)} " if dice.chance(60) else ""
        frame = dice.pick(["", "", " rows between 1 preceding and current row"])
        return f"{partition}order by {self.integer(scope, 0)}, {self.integer(scope, 1)}{frame}"
