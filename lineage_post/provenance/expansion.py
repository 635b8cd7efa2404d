"""Opens the gates that a row's polynomial reaches, by side queries, down to source rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from lineage_post.errors import LineageError
from lineage_post.provenance.building import aliased, column, derived, names_of, text
from lineage_post.provenance.gates import Gate, GateKind, Term
from lineage_post.provenance.identity import INTEGER_TYPES, TEXT_TYPES, is_bare, key_text, part
from lineage_post.provenance.identity import token as token_sql
from lineage_post.provenance.polynomial import (
    ONE,
    Polynomial,
    Reader,
    Token,
    add,
    multiply,
    parse,
    tokens,
    written_token,
)

#: Gives the rows of a statement.
Run = Callable[[exp.Expr], Sequence[Sequence[Any]]]
#: So many tokens of one gate are asked for in one statement.
BATCH = 5_000
#: Up to so many are compared key by key, which engines push down; more by their text in one list.
FEW = 20


class TooManyRows(LineageError):
    """More derivations than are shown; ``limit`` is how many were allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} derivations")
        self.limit = limit


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of one source row: ``row`` is its token, ``column`` the source column."""

    row: Token
    column: str


@dataclass(frozen=True, slots=True)
class TermSum:
    """An aggregate as a sum of values, each times the polynomial of the row that brings it.

    An element of a semimodule: Amsterdamer, Deutch and Tannen, PODS 2011.
    """

    function: str
    distinct: bool
    terms: tuple[tuple[Any, Polynomial], ...]


@dataclass(slots=True)
class Expansion:
    """What the gates stand for, as far as they were reached."""

    gates: dict[Token, Polynomial] = field(default_factory=dict)
    cells: dict[tuple[Token, int], frozenset[Cell]] = field(default_factory=dict)
    terms: dict[tuple[Token, int], TermSum] = field(default_factory=dict)
    #: Gates that should have had rows and had none: the data changed in between, or is volatile.
    lost: list[Token] = field(default_factory=list)
    #: Only some of the rows were taken.
    is_cut: bool = False

    def leaves(self, polynomial: Polynomial) -> set[Token]:
        """The source rows ``polynomial`` uses, gates opened."""
        return {token for token in self.reached(polynomial) if not token.is_gate}

    def reached(self, polynomial: Polynomial) -> set[Token]:
        """The source rows and the gates that ``polynomial`` uses."""
        found: set[Token] = set()
        pending = [polynomial]
        while pending:
            for token in tokens(pending.pop()):
                if token not in found:
                    found.add(token)
                    if token.is_gate:
                        pending.append(self.gates[token])
        return found


class Expander:
    """Runs side queries for one rewritten query.

    ``limit`` bounds the rows they may give together; ``cut`` takes that many and says so, where
    else TooManyRows is raised.
    """

    def __init__(
        self,
        gates: Mapping[str, Gate],
        run: Run,
        dialect: str,
        *,
        limit: int = 10_000,
        cut: bool = False,
    ) -> None:
        self._gates = gates
        self._run = run
        self._dialect = dialect
        self._left = limit
        self._limit = limit
        self._cut = cut
        self.expansion = Expansion()
        self._raw_cells: dict[tuple[Token, int], set[str]] = {}
        self._terms: dict[tuple[Token, Term], list[tuple[Any, Polynomial]]] = {}

    def expand(self, polynomials: Iterable[Polynomial]) -> Expansion:
        """Open every gate that ``polynomials`` reach. Raises TooManyRows."""
        pending = {t for p in polynomials for t in tokens(p) if t.is_gate}
        while pending:
            by_gate: dict[str, list[Token]] = defaultdict(list)
            for token in sorted(pending, key=str):
                if token not in self.expansion.gates:
                    by_gate[token.name].append(token)
            pending = set()
            for name, asked in by_gate.items():
                for start in range(0, len(asked), BATCH):
                    opened = self._open(self._gates[name], asked[start : start + BATCH])
                    pending |= {t for p in opened for t in tokens(p) if t.is_gate}
        for (token, term), values in self._terms.items():
            self.expansion.terms[token, term.output] = TermSum(
                term.function, term.distinct, tuple(values)
            )
        self._terms.clear()
        return self.expansion

    def cells_of(self, written: str | None) -> frozenset[Cell]:
        """The source cells of a cell annotation, pointers into gates followed."""
        return frozenset(
            Cell(token, where) for token, where in self._followed(written) if isinstance(where, str)
        )

    def terms_of(self, written: str | None) -> TermSum | None:
        """The aggregate that a cell annotation points at, None where there is not just one."""
        found = {
            (token, where): self.expansion.terms[token, where]
            for token, where in self._followed(written)
            if isinstance(where, int) and (token, where) in self.expansion.terms
        }
        return next(iter(found.values())) if len(found) == 1 else None

    def _followed(self, written: str | None) -> set[tuple[Token, str | int]]:
        """All cells and outputs of gates that an annotation leads to."""
        seen: set[tuple[Token, str | int]] = set()
        pending = [written] if written else []
        while pending:
            for token, where in _read_cells(pending.pop()):
                if (token, where) in seen:
                    continue
                seen.add((token, where))
                if isinstance(where, int):
                    if token not in self.expansion.gates:
                        self.expand([token])
                    pending.extend(self._raw_cells.get((token, where), ()))
        return seen

    # -- one gate

    def _open(self, gate: Gate, asked: list[Token]) -> list[Polynomial]:
        sides = [self._side(gate, number, asked) for number in range(len(gate.sides))]
        opened: list[Polynomial] = []
        for token in asked:
            factors = [add(rows) if rows else ONE for rows in (side[token] for side in sides)]
            polynomial = multiply(factors)
            is_lost = gate.types and not all(side[token] for side in sides)
            if is_lost and not self.expansion.is_cut:
                self.expansion.lost.append(token)
            self.expansion.gates[token] = polynomial
            opened.append(polynomial)
        return opened

    def _side(self, gate: Gate, number: int, asked: list[Token]) -> dict[Token, list[Polynomial]]:
        """The annotations of the rows of one side, by the token they belong to."""
        found: dict[Token, list[Polynomial]] = {token: [] for token in asked}
        for mask, group in _by_mask(gate, asked).items():
            keys = [k for k in range(_key_count(gate)) if not mask[k]]
            owners: dict[tuple[str | None, ...], list[Token]] = defaultdict(list)
            for token in group:
                parts = _key_parts(gate, token)
                owners[tuple(parts[k] for k in keys)].append(token)
            for row in self._rows(gate, number, keys, owners):
                self._share(gate, row, len(keys), owners, found)
        return found

    def _share(
        self,
        gate: Gate,
        row: Sequence[Any],
        width: int,
        owners: Mapping[tuple[str | None, ...], list[Token]],
        found: dict[Token, list[Polynomial]],
    ) -> None:
        polynomial = parse(row[width])
        for token in owners.get(tuple(row[:width]), ()):
            if _is_in_place(gate, token, row[width + 1]):
                found[token].append(polynomial)
                self._keep_extras(gate, token, polynomial, row[width + 2 :])

    def _keep_extras(
        self, gate: Gate, token: Token, polynomial: Polynomial, extras: Sequence[Any]
    ) -> None:
        for term, value in zip(gate.terms, extras, strict=False):
            if value is not None:
                self._terms.setdefault((token, term), []).append((value, polynomial))
        for output, written in enumerate(extras[len(gate.terms) :], 1):
            if written:
                self._raw_cells.setdefault((token, output), set()).add(written)

    def _rows(
        self,
        gate: Gate,
        number: int,
        keys: list[int],
        owners: Mapping[tuple[str | None, ...], list[Token]],
    ) -> Sequence[Sequence[Any]]:
        types = _key_types(gate)
        side = gate.sides[number]
        outputs = [
            aliased(key_text(column(f"_k{k + 1}", "_g"), types[k], self._dialect), f"_t{k + 1}")
            for k in keys
        ]
        outputs.append(column("_p", "_g"))
        is_placed = gate.kind in (GateKind.UP_TO, GateKind.FROM)
        outputs.append(column("_pos", "_g") if is_placed else aliased(exp.null(), "_pos"))
        outputs += [column(f"_v{term.output}", "_g") for term in gate.terms]
        named = set(names_of(side))
        outputs += [
            column(f"_cell{n}", "_g") for n in range(1, gate.outputs + 1) if f"_cell{n}" in named
        ]
        statement = exp.select(*outputs).from_(derived(side.copy(), "_g"))
        if keys:
            asked = [types[k] for k in keys]
            columns: list[exp.Expr] = [column(f"_k{k + 1}", "_g") for k in keys]
            statement = statement.where(is_any(columns, asked, owners, self._dialect))
        statement = statement.limit(self._left + 1)
        rows = self._run(lifted(statement))
        if len(rows) > self._left:
            if not self._cut:
                raise TooManyRows(self._limit)
            self.expansion.is_cut = True
            rows = rows[: self._left]
        self._left -= len(rows)
        return rows


def lifted(statement: exp.Select) -> exp.Select:
    """``statement`` with the WITH of its derived table in front: every engine takes that."""
    inner = statement.args["from_"].this.this
    clause = inner.args.get("with_")
    if clause is not None:
        inner.set("with_", None)
        statement.set("with_", clause)
    return statement


def _key_count(gate: Gate) -> int:
    count = len(gate.types)
    if gate.kind is GateKind.GROUPING_SETS:
        return count // 2
    return count - 1 if gate.kind in (GateKind.UP_TO, GateKind.FROM) else count


def _key_types(gate: Gate) -> list[exp.DataType | None]:
    if gate.kind is GateKind.GROUPING_SETS:
        return list(gate.types[1::2])
    return list(gate.types[: _key_count(gate)])


def _key_parts(gate: Gate, token: Token) -> tuple[str | None, ...]:
    if gate.kind is GateKind.GROUPING_SETS:
        return token.key[1::2]
    return token.key[: _key_count(gate)]


def _by_mask(gate: Gate, asked: list[Token]) -> dict[tuple[bool, ...], list[Token]]:
    """Tokens by which of their keys are rolled up."""
    groups: dict[tuple[bool, ...], list[Token]] = defaultdict(list)
    for token in asked:
        if gate.kind is GateKind.GROUPING_SETS:
            mask = tuple(bit == "1" for bit in token.key[0::2])
        else:
            mask = (False,) * _key_count(gate)
        groups[mask].append(token)
    return groups


def _is_in_place(gate: Gate, token: Token, position: Any) -> bool:
    if gate.kind is GateKind.UP_TO:
        return int(position) <= int(token.key[-1] or 0)
    if gate.kind is GateKind.FROM:
        return int(position) >= int(token.key[-1] or 0)
    return True


def is_any(
    columns: list[exp.Expr],
    types: list[exp.DataType | None],
    wanted: Iterable[tuple[str | None, ...]],
    dialect: str,
) -> exp.Expr:
    """The condition that the key columns hold one of the ``wanted`` keys."""
    keys = list(wanted)
    if len(keys) == 1:
        return _is_key(columns, types, keys[0], dialect)
    # Engines look values up in a list, and push such a test down to the table.
    listed = [
        _is_among(column, data_type, {parts[n] for parts in keys})
        for n, (column, data_type) in enumerate(zip(columns, types, strict=True))
    ]
    narrowed = [test for test in listed if test is not None]
    if len(columns) == len(narrowed) == 1:
        return narrowed[0]
    if len(keys) <= FEW:
        each = exp.or_(*(_is_key(columns, types, parts, dialect) for parts in keys))
        return exp.and_(*narrowed, each)
    bare = [is_bare(data_type) for data_type in types]
    written = [part(c, t, dialect) for c, t in zip(columns, types, strict=True)]
    literals = [text(written_token("", parts, bare)) for parts in keys]
    return exp.and_(*narrowed, exp.In(this=token_sql("", written), expressions=literals))


def _is_among(
    column: exp.Expr, data_type: exp.DataType | None, values: set[str | None]
) -> exp.Expr | None:
    """The test that a column holds one of ``values``; None where only its text can be compared."""
    literals = [_literal(value, data_type) for value in sorted(v for v in values if v is not None)]
    known = [literal for literal in literals if literal is not None]
    if len(known) < len(literals):
        return None
    tests: list[exp.Expr] = []
    if known:
        listed: exp.Expr = exp.In(this=column.copy(), expressions=known)
        if data_type is not None and data_type.is_type(*INTEGER_TYPES):
            # DuckDB then reads the other columns of the rows that are left only: four times faster.
            numbers = [int(value) for value in values if value is not None]
            bounds = {"low": _integer(str(min(numbers))), "high": _integer(str(max(numbers)))}
            listed = exp.and_(exp.Between(this=column.copy(), **bounds), listed)
        tests.append(listed)
    if None in values:
        tests.append(exp.Is(this=column.copy(), expression=exp.null()))
    return exp.or_(*tests)


def _literal(value: str, data_type: exp.DataType | None) -> exp.Expr | None:
    """SQL for a key's text as a value of its type; None where the two may not be one to one."""
    if data_type is None:
        return None
    if data_type.is_type(*INTEGER_TYPES):
        return _integer(value)
    if data_type.is_type(*TEXT_TYPES):
        return text(value)
    if data_type.is_type(exp.DataType.Type.DATE):
        return exp.cast(text(value), data_type.copy())
    return None


def _is_key(
    columns: list[exp.Expr],
    types: list[exp.DataType | None],
    parts: tuple[str | None, ...],
    dialect: str,
) -> exp.Expr:
    tests: list[exp.Expr] = []
    for key, data_type, value in zip(columns, types, parts, strict=True):
        key = key.copy()
        literal = None if value is None else _literal(value, data_type)
        if value is None:
            tests.append(exp.Is(this=key, expression=exp.null()))
        elif literal is not None:
            tests.append(exp.EQ(this=key, expression=literal))
        else:
            tests.append(exp.EQ(this=key_text(key, data_type, dialect), expression=text(value)))
    return exp.and_(*tests) if tests else exp.true()


def _integer(value: str) -> exp.Expr:
    literal = exp.Literal.number(value.lstrip("-"))
    return exp.Neg(this=literal) if value.startswith("-") else literal


def _read_cells(written: str) -> list[tuple[Token, str | int]]:
    """``orders[42].6:amount`` as (token, column); ``@g1[7].2`` as (token, output)."""
    found: list[tuple[Token, str | int]] = []
    reader = Reader(written)
    while reader.at < len(written):
        token = reader.token()
        found.append((token, reader.place(token.is_gate)))
    return found
