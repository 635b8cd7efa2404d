"""The conservative reading of a trace: an output inherits every column it depends on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lineage_post.trace.result import Trace, TraceEdge


def conservative(trace: Trace) -> Trace:
    """The trace with each dataset-level edge repeated for every output, and none left over.

        select a from t where b > 0        t.b -> (rows)   becomes   t.b -> a

    An over-approximation by intent: b does not compute a, it decides whether there is an a.
    """
    return replace(trace, edges=tuple(_folded(trace)))


def _folded(trace: Trace) -> Iterator[TraceEdge]:
    rows = [edge for edge in trace.edges if edge.to is None]
    if not trace.outputs:
        yield from rows
    for output in trace.outputs:
        for edge in trace.edges:
            if edge.to is not None and edge.to_ordinal == output.ordinal:
                yield edge
        for edge in rows:
            yield edge._replace(to=output.name, to_ordinal=output.ordinal)
