"""The contracts on where values come from, each a walk from the column with its own edges.

                      follows              breaks on
derives_from          exact values         an origin that was not reached
does_not_derive_from  values, or all       an origin that was reached
masked_from           what is not masked   an origin that was reached
only_derives_from     values, to origins   a source that is no origin
is_identity_of        bare copies          any other edge, a source that is no origin
is_aggregated         what is not summed   a source, or an origin that was reached
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from lineage_post.contracts.contract import Contract, Require
from lineage_post.contracts.finding import Finding, Proof, column_text, path_text
from lineage_post.contracts.origins import Origins
from lineage_post.contracts.walks import (
    Walked,
    is_bare,
    is_exact,
    is_leaf,
    is_not_aggregated,
    is_not_masked,
    is_told_apart,
    unknown_reason,
    walk_up,
)
from lineage_post.graph import Column
from lineage_post.lineage import Edge, Lineage
from lineage_post.vocabulary import Certainty, EdgeType


@dataclass(frozen=True, slots=True)
class Question:
    """A contract asked of one column."""

    contract: Contract
    lineage: Lineage
    column: tuple[str, str]
    origins: Origins

    def finding(
        self,
        walked: Walked,
        to: Column,
        because: str,
        proof: Proof = Proof.BROKEN,
        last: tuple[Column, tuple[Edge, ...]] | None = None,
    ) -> Finding:
        """A finding whose path begins at ``to``, or one step before it, at ``last``."""
        columns, arcs = walked.path(to)
        if last is not None:
            columns, arcs = [last[0], *columns], [last[1], *arcs]
        return Finding(
            self.contract.kind,
            self.column[0],
            self.column[1],
            path_text(self.lineage, columns, arcs),
            because,
            proof,
            tuple(columns),
        )

    def text(self, column: Column) -> str:
        return column_text(self.lineage, column)

    def walk(self, **how: object) -> Walked:
        return walk_up(self.lineage, self.column, **how)  # type: ignore[arg-type]

    def unknowns(self, walked: Walked, stop: Iterable[Column] = ()) -> list[Finding]:
        """What on the way is not known, unless the contract allows that."""
        if self.contract.allow_unknown:
            return []
        left_out = frozenset(stop)
        found = []
        for column in walked.columns:
            reason = unknown_reason(self.lineage, column) if column not in left_out else None
            if reason is not None:
                because = (
                    f"cannot be proven: what {self.text(column)} comes from is not known ({reason})"
                )
                found.append(self.finding(walked, column, because, Proof.UNPROVEN))
        return found[:1]


def derives_from(q: Question) -> list[Finding]:
    """An origin that the value does not come from; with ``require: any`` all of them missing."""
    sure = q.walk(follow=is_exact, beyond=partial(is_told_apart, q.lineage))
    groups = q.origins.groups
    missing = [n for n, columns in groups.items() if not any(c in sure for c in columns)]
    if not missing or (q.contract.require is Require.ANY and len(missing) < len(groups)):
        return []
    walked = q.walk()
    maybe = [n for n in missing if any(c in walked for c in groups[n])]
    unknowns = q.unknowns(walked)
    if q.contract.allow_unknown:
        is_open = any(unknown_reason(q.lineage, c) for c in walked.columns)
        missing = [] if is_open else [n for n in missing if n not in maybe]
    if q.contract.require is Require.ANY and len(missing) < len(groups):
        return []
    found = []
    for name in missing:
        if name in maybe:
            origin = next(c for c in walked.columns if c in groups[name])
            because = f"cannot be proven: that it comes from {name} is only assumed"
            found.append(q.finding(walked, origin, because, Proof.UNPROVEN))
        elif unknowns:
            found += unknowns
        else:
            found.append(_elsewhere(q, walked, f"it does not come from {name}"))
    return list(dict.fromkeys(found))


def _elsewhere(q: Question, walked: Walked, because: str) -> Finding:
    """The path to where the value does come from, for want of the one that should be there."""
    leaf = next((c for c in walked.columns if is_leaf(q.lineage, c)), walked.start)
    instead = f", but from {q.text(leaf)}" if leaf != walked.start else ", nor from any column"
    return q.finding(walked, leaf, because + instead)


def does_not_derive_from(q: Question) -> list[Finding]:
    """Each origin that the value comes from, or with ``include_indirect`` that influences it."""
    walked = q.walk(indirect=q.contract.include_indirect)
    verb = "is influenced by" if q.contract.include_indirect else "comes from"
    return _reached(q, walked, lambda origin: f"it {verb} {origin}")


def masked_from(q: Question) -> list[Finding]:
    """Each origin that reaches the column by a path without a masking function."""
    walked = q.walk(follow=is_not_masked, indirect=q.contract.include_indirect)
    return _reached(q, walked, lambda origin: f"{origin} reaches it unmasked")


def _reached(q: Question, walked: Walked, say: Callable[[str], str]) -> list[Finding]:
    found = []
    for column in walked.columns[1:]:
        if column in q.origins.columns:
            assert column[1] is not None
            name = q.text(column) + q.origins.label((column[0], column[1]))
            found.append(q.finding(walked, column, say(name) + _assumed(walked, column)))
    return found or q.unknowns(walked)


def _assumed(walked: Walked, column: Column) -> str:
    _, arcs = walked.path(column)
    is_sure = all(any(e.certainty is Certainty.EXACT for e in edges) for edges in arcs if edges)
    return "" if is_sure else ", as far as can be told (assumed)"


def only_derives_from(q: Question) -> list[Finding]:
    """Each source that the value comes from by a path that meets none of the origins."""
    allowed = q.origins.columns
    walked = q.walk(stop=allowed)
    found = [
        q.finding(walked, c, f"it also comes from {q.text(c)}")
        for c in walked.columns[1:]
        if c not in allowed and is_leaf(q.lineage, c)
    ]
    return found or q.unknowns(walked, stop=allowed)


def is_identity_of(q: Question) -> list[Finding]:
    """Each edge on the way that changes the value, each other source of it."""
    wanted = q.origins.columns
    walked = q.walk(follow=is_bare, stop=wanted)
    found: list[Finding] = []
    for column in walked.columns:
        if column in wanted and column != walked.start:
            continue
        found += _changes(q, walked, column)
        if column != walked.start and is_leaf(q.lineage, column):
            found.append(q.finding(walked, column, f"it is a copy of {q.text(column)}"))
    unknowns = q.unknowns(walked, stop=wanted)
    if found or unknowns:
        return found or unknowns
    if any(column in wanted for column in walked.columns[1:]):
        return []
    names = " or ".join(q.contract.columns)
    return [q.finding(walked, walked.columns[-1], f"it is no copy of {names}")]


def _changes(q: Question, walked: Walked, column: Column) -> list[Finding]:
    groups: dict[Column, list[Edge]] = {}
    for edge in q.lineage.graph.edges_into(*column):
        if edge.type is EdgeType.DIRECT and not is_bare(edge):
            groups.setdefault((edge.from_node, edge.from_column), []).append(edge)
    found = []
    for origin, edges in groups.items():
        shown = " ".join((edges[0].expression or "").split())
        how = "only assumed to be copied" if all(not is_exact(e) for e in edges) else "changed"
        because = f"{q.text(origin)} is {how} on the way to {q.text(column)}"
        because += f": {shown}" if shown else ""
        found.append(q.finding(walked, column, because, last=(origin, tuple(edges))))
    return found


def is_aggregated(q: Question) -> list[Finding]:
    """Each source, or where origins are named each of these, that reaches it unaggregated."""
    walked = q.walk(follow=is_not_aggregated)
    if q.contract.columns or q.contract.column_tags or q.contract.column_meta:
        return _reached(q, walked, lambda origin: f"{origin} reaches it without an aggregation")
    found = [
        q.finding(walked, c, f"{q.text(c)} reaches it without an aggregation")
        for c in walked.columns[1:]
        if is_leaf(q.lineage, c)
    ]
    return found or q.unknowns(walked)
