"""The how-provenance of a row: a polynomial over source rows, parsed from the text the SQL made.

``orders[42]*(items[7]+items[8])`` reads: the row is there because of order 42 together with item 7
or item 8. A token ``@g1[...]`` is a gate: a name for the polynomial of a group, expanded apart, so
that a shared part is written once (a circuit in the sense of ProvSQL, not a tree).
Source: Green, Karvounarakis and Tannen, Provenance semirings, PODS 2007.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lineage_post.errors import LineageError


@dataclass(frozen=True, slots=True)
class Token:
    """A source row, or a gate where ``name`` starts with ``@``.

    ``key`` holds the text of each key part, None for NULL.
    """

    name: str
    key: tuple[str | None, ...] = ()

    @property
    def is_gate(self) -> bool:
        return self.name.startswith("@")

    def __str__(self) -> str:
        """As ``parse`` reads it: a part with signs of the syntax in it is a counted string."""
        parts = ("~" if part is None else _counted(part) for part in self.key)
        return f"{self.name}[{'|'.join(parts)}]"


@dataclass(frozen=True, slots=True)
class Constant:
    """``1``: there without any source row; ``0``: not there."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Sum:
    """Alternatives: any of ``terms`` is enough."""

    terms: tuple[Polynomial, ...]

    def __str__(self) -> str:
        return "(" + " + ".join(str(term) for term in self.terms) + ")"


@dataclass(frozen=True, slots=True)
class Product:
    """Joint use: all of ``factors`` are needed."""

    factors: tuple[Polynomial, ...]

    def __str__(self) -> str:
        return "*".join(str(factor) for factor in self.factors)


Polynomial = Token | Constant | Sum | Product

ONE = Constant(1)
ZERO = Constant(0)

#: A token none of whose parts is a counted string: by far the most.
_PLAIN = re.compile(r"(@?\w+)\[([^'\]]*)\]")
_NAME = re.compile(r"@?\w+(?=\[)")
_PLACE = re.compile(r"\.(\d+)")
_STRING = re.compile(r"'(\d+):")
#: A part that cannot be taken for anything else.
_BARE = re.compile(r"[^|\]'~][^|\]]*")


def _counted(part: str) -> str:
    return part if _BARE.fullmatch(part) else f"'{len(part)}:{part}"


def add(terms: list[Polynomial]) -> Polynomial:
    """The sum of ``terms``, flat, without zeros; equal terms stay, since they count."""
    flat: list[Polynomial] = []
    for term in terms:
        if isinstance(term, Sum):
            flat.extend(term.terms)
        elif term != ZERO:
            flat.append(term)
    if not flat:
        return ZERO
    return flat[0] if len(flat) == 1 else Sum(tuple(flat))


def multiply(factors: list[Polynomial]) -> Polynomial:
    """The product of ``factors``, flat, without ones; zero if any is zero."""
    flat: list[Polynomial] = []
    for factor in factors:
        if factor == ZERO:
            return ZERO
        if isinstance(factor, Product):
            flat.extend(factor.factors)
        elif factor != ONE:
            flat.append(factor)
    if not flat:
        return ONE
    return flat[0] if len(flat) == 1 else Product(tuple(flat))


def parse(text: str) -> Polynomial:
    """The polynomial of an annotation. Raises LineageError where ``text`` is none."""
    reader = Reader(text)
    result = reader.sum()
    if reader.at < len(text):
        raise LineageError(f"not a polynomial at character {reader.at}: {text[:80]!r}")
    return result


class Reader:
    """A recursive descent over an annotation; also reads single tokens for cells."""

    __slots__ = ("at", "text")

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at

    def sum(self) -> Polynomial:
        terms = [self._product()]
        while self._takes("+") or self._takes(" + "):
            terms.append(self._product())
        return add(terms) if len(terms) > 1 else terms[0]

    def _product(self) -> Polynomial:
        factors = [self._factor()]
        while self._takes("*"):
            factors.append(self._factor())
        return multiply(factors) if len(factors) > 1 else factors[0]

    def _factor(self) -> Polynomial:
        if self._takes("("):
            inner = self.sum()
            if not self._takes(")"):
                raise LineageError(f"a bracket is not closed: {self.text[:80]!r}")
            return inner
        if _NAME.match(self.text, self.at):
            return self.token()
        for constant in (ONE, ZERO):
            if self._takes(str(constant)):
                return constant
        raise LineageError(f"not a polynomial at character {self.at}: {self.text[:80]!r}")

    def token(self) -> Token:
        plain = _PLAIN.match(self.text, self.at)
        if plain:
            self.at = plain.end()
            inside = plain[2]
            parts = tuple(None if p == "~" else p for p in inside.split("|")) if inside else ()
            return Token(plain[1], parts)
        name = _NAME.match(self.text, self.at)
        if name is None:
            raise LineageError(f"not a token at character {self.at}: {self.text[:80]!r}")
        self.at = name.end() + 1
        parts_read: list[str | None] = []
        while True:
            parts_read.append(self._part())
            if self._takes("]"):
                return Token(name[0], tuple(parts_read))
            if not self._takes("|"):
                raise LineageError(f"a token is not closed: {self.text[:80]!r}")

    def place(self, is_output: bool) -> str | int:
        """What follows the token of a cell: ``.2`` an output of a gate, ``.6:amount`` a column."""
        match = _PLACE.match(self.text, self.at)
        if match is None:
            raise LineageError(f"not a cell at character {self.at}: {self.text[:80]!r}")
        self.at = match.end()
        if is_output:
            return int(match[1])
        self.at += 1
        start, self.at = self.at, self.at + int(match[1])
        return self.text[start : self.at]

    def _part(self) -> str | None:
        counted = _STRING.match(self.text, self.at)
        if counted:
            start = counted.end()
            self.at = start + int(counted[1])
            return self.text[start : self.at]
        end = self.at
        while end < len(self.text) and self.text[end] not in "|]":
            end += 1
        part, self.at = self.text[self.at : end], end
        return None if part == "~" else part

    def _takes(self, sign: str) -> bool:
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        return False


def written_token(name: str, key: Sequence[str | None], is_bare: Sequence[bool]) -> str:
    """A token as the SQL writes it: parts that are not bare are counted strings."""
    parts = [
        "~" if value is None else value if bare else f"'{len(value)}:{value}"
        for value, bare in zip(key, is_bare, strict=True)
    ]
    return f"{name}[{'|'.join(parts)}]"


def tokens(polynomial: Polynomial) -> Iterator[Token]:
    """Every token of ``polynomial``, as often as it stands there."""
    stack: list[Polynomial] = [polynomial]
    while stack:
        node = stack.pop()
        if isinstance(node, Token):
            yield node
        elif isinstance(node, Sum):
            stack.extend(reversed(node.terms))
        elif isinstance(node, Product):
            stack.extend(reversed(node.factors))


def in_order(polynomial: Polynomial) -> Polynomial:
    """The same polynomial with its terms and factors in one order: the engine gives them in any."""
    if isinstance(polynomial, Sum):
        return Sum(tuple(sorted(map(in_order, polynomial.terms), key=str)))
    if isinstance(polynomial, Product):
        return Product(tuple(sorted(map(in_order, polynomial.factors), key=str)))
    return polynomial


def substitute(polynomial: Polynomial, of: Callable[[Token], Polynomial]) -> Polynomial:
    """``polynomial`` with each token replaced by what ``of`` gives for it."""
    if isinstance(polynomial, Token):
        return of(polynomial)
    if isinstance(polynomial, Sum):
        return add([substitute(term, of) for term in polynomial.terms])
    if isinstance(polynomial, Product):
        return multiply([substitute(factor, of) for factor in polynomial.factors])
    return polynomial
