"""Gates: names for shared or large parts of a polynomial, expanded by a side query on demand.

The rows of ``select k, sum(v) from t group by k`` are annotated ``@g1[k]``; what ``@g1[7]`` is, the
side query ``select k, <annotation> from t`` tells, asked with ``k = 7``. The query itself stays as
it was, and nothing is aggregated as text.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from lineage_post.vocabulary import Word

Keys = list[tuple[exp.Expr, exp.DataType | None]]


class GateKind(Word):
    """Which rows of the side query a token stands for."""

    GROUP = "group"
    GROUPING_SETS = "grouping sets"
    DISTINCT = "distinct"
    SET_OPERATION = "set operation"
    MEMBER = "member"
    SUBQUERY = "subquery"
    PARTITION = "partition"
    #: The last key part is a position: rows of the partition up to it, or from it on.
    UP_TO = "up to"
    FROM = "from"


@dataclass(frozen=True, slots=True)
class Term:
    """An aggregate output of a gated query; the value each row brings is in ``_v<output>``."""

    output: int
    function: str
    distinct: bool


@dataclass(frozen=True, slots=True)
class Gate:
    """``sides`` are queries with columns ``_k1``..., ``_p`` (``_pos``, ``_cell1``..., ``_v1``...).

    The gate's polynomial is the product over its sides of the sum of the rows a token matches.
    ``types`` are those of the key parts, None where unknown.
    """

    name: str
    kind: GateKind
    types: tuple[exp.DataType | None, ...]
    sides: tuple[exp.Expr, ...]
    terms: tuple[Term, ...] = ()
    outputs: int = 0
