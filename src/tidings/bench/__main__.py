"""`python -m tidings.bench`, which `make bench` runs: a short look at how fast it is here."""

from __future__ import annotations

import sys

from tidings.bench.machine import Machine, commit
from tidings.bench.matching import ALL_PEERS, Plan, run_matching
from tidings.bench.table import HEADER, plain, rows, title
from tidings.workloads import LeSubscribe

ALGORITHMS = ("default", "counting", "equality-preferred", "quarantine")
PEERS = tuple(name for name in ALL_PEERS if name in ("numpy", "duckdb", "polars", "rule-engine"))


def main() -> None:
    print(f"{Machine.here()}; commit {commit()}")
    for equality in (0.5, 1.0):
        plan = Plan(LeSubscribe(equality), 100_000, 5_000, ALGORITHMS, PEERS if equality == 0.5 else (), seconds=3)
        run = run_matching(plan, say=lambda message: print(f"  {message} …", file=sys.stderr))
        print(f"\n{title(run)}; floor {run.floor_ns_per_match:.2f} ns/match\n{plain(HEADER, rows(run.results))}")


if __name__ == "__main__":
    main()
