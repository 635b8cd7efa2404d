"""The whole of the provenance checks, with figures: ``python -m tests.provenance.full``.

Ends with 1 where a figure misses what is promised. Takes some minutes and 2 GB.
"""

from __future__ import annotations

import sys

from tests.provenance.checks import Examined
from tests.provenance.costs import SCALE, costs, summed_up
from tests.provenance.engines import cases, small, tpc, tpc_queries
from tests.provenance.tpc_checks import examine

TRIALS = 60


def main(arguments: list[str]) -> int:
    parts = arguments or ["trials", "tpch", "tpcds", "ratios"]
    ends = {"trials": _trials, "tpch": lambda: _tpc("h"), "tpcds": lambda: _tpc("ds")}
    ends["ratios"] = ratios

    def run(part: str) -> bool:
        return ends[part]()

    return int(not all(list(map(run, parts))))


def _trials() -> bool:
    monotone = [case for case in cases() if case.monotone]
    with small() as connection:
        outcomes = [
            outcome
            for case in monotone
            for gating in (True, False)
            for outcome in Examined(connection, case.sql, gating=gating).deletion_trials(TRIALS, 3)
        ]
    print(f"deletion trials on {len(monotone)} monotone queries: {sum(outcomes)}/{len(outcomes)}")
    return all(outcomes) and len(outcomes) >= 2_000


def _tpc(which: str) -> bool:
    with tpc(which) as connection:
        queries = tpc_queries(connection, which)
        records = [examine(connection, number, sql) for number, sql in queries.items()]
    for record in records:
        if not record.is_fine:
            print(f"  not fine: {record}")
    examined = sum(r.examined for r in records)
    unwitnessed = sum(r.unwitnessed for r in records)
    print(
        f"TPC-{which.upper()}: same bag {sum(r.same for r in records)}/{len(records)}"
        f" ({sum(not r.rows for r in records)} give no row),"
        f" sufficient {sum(r.sufficient for r in records)}/{examined},"
        f" necessary {sum(r.necessary for r in records)}/{examined - unwitnessed}"
        f" ({unwitnessed} reported without witness),"
        f" copied cells {sum(r.claims for r in records)},"
        f" wrong {sum(r.wrong_claims for r in records)}"
    )
    return all(record.is_fine for record in records)


def ratios() -> bool:
    """Prints the ratios; are they within what is promised?"""
    measured = list(costs())
    asked = summed_up(measured, lambda cost: cost.asked)
    whole = summed_up(measured, lambda cost: cost.whole)
    print(f"one row asked, CPU against the original, {len(measured)} queries, scale {SCALE}, 2 GB:")
    for what, figures in (("its witnesses known", asked), ("their values read too", whole)):
        print(f"  {what}: " + ", ".join(f"{name} {value:.2f}" for name, value in figures.items()))
    worst = sorted(measured, key=lambda cost: -cost.asked)[:8]
    print("  slowest: " + ", ".join(f"{cost.name}: {cost.asked:.1f}" for cost in worst))
    return asked["median"] <= 2.5 and asked["p90"] <= 6 and asked["q67"] <= 10


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
