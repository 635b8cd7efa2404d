"""Generated queries in batches: the same seed gives the same queries."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.oracle.generator import queries


def batch(number: int, size: int) -> list[str]:
    """Up to ``size`` different queries of the batch with that number."""
    found: dict[str, None] = {}

    @seed(number)
    @settings(
        max_examples=size,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(queries())
    def collect(query: str) -> None:
        found[query] = None

    collect()
    return list(found)
