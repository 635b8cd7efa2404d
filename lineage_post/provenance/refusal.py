"""What cannot be rewritten is refused, with the operator and the line it stands on."""

from __future__ import annotations

from sqlglot import exp

from lineage_post.errors import LineageError


class Refusal(LineageError):
    """A query or predicate whose provenance is not told. A refused model is a leaf of a walk.

    ``operator`` names what was met, ``line`` is its line in the compiled SQL (1-based) or None.
    """

    def __init__(self, operator: str, line: int | None = None, *, hint: str | None = None) -> None:
        where = f" on line {line}" if line else ""
        super().__init__(f"{operator}{where}", hint=hint)
        self.operator = operator
        self.line = line


def whole_rows(asked: str, model: str) -> Refusal:
    """Of a question that names a column; the caller raises it."""
    return Refusal(
        f"why explains whole rows, and {asked!r} is a column",
        hint=f"Name {model} alone. Its cells tell where each value was copied from: "
        "--where-cells, or where_cells: true in a run-operation.",
    )


def line_of(node: exp.Expr) -> int | None:
    """The line of the first token the parser remembers in ``node``, or in what is around it."""
    around: exp.Expr | None = node
    while around is not None:
        lines = [n.meta["line"] for n in around.walk() if "line" in n.meta]
        if lines:
            return int(min(lines))
        around = around.parent
    return None


def refuse(operator: str, node: exp.Expr, hint: str | None = None) -> Refusal:
    """A Refusal of ``operator`` with the line of ``node``; the caller raises it."""
    return Refusal(operator, line_of(node), hint=hint)
