"""What asking for one row costs, as one JSON document: for ``make bench``."""

from __future__ import annotations

import json

from tests.provenance.costs import SCALE, costs, summed_up

if __name__ == "__main__":
    measured = list(costs())
    slowest = sorted(measured, key=lambda cost: -cost.asked)[:8]
    print(
        json.dumps(
            {
                "scale": SCALE,
                "queries": len(measured),
                "asked": summed_up(measured, lambda cost: cost.asked),
                "whole": summed_up(measured, lambda cost: cost.whole),
                "slowest": {cost.name: cost.asked for cost in slowest},
            }
        )
    )
