"""Today's tools on the same workload, in the same run. One that is not there, or cannot say a predicate, is a row
that says so.

A peer takes a `Grid` and answers how many filters each event matches; writing the pairs down is left to it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from tidings.bench.grid import Grid
from tidings.bench.results import Counts

PEERS = {
    "prototype": "tidings.bench.peers.prototype:Prototype",
    "numpy": "tidings.bench.peers.numpy_scan:NumpyScan",
    "duckdb": "tidings.bench.peers.duckdb_join:DuckDbJoin",
    "polars": "tidings.bench.peers.polars_join:PolarsJoin",
    "spark-sql": "tidings.bench.peers.spark_join:SparkJoin",
    "rule-engine": "tidings.bench.peers.rules:RuleEngine",
    "event-ruler": "tidings.bench.peers.java:EventRuler",
    "lucene-monitor": "tidings.bench.peers.java:LuceneMonitor",
}


class Peer(Protocol):
    """One tool. `most` is how many filters it is given at most. What tests filter by filter is then extrapolated;
    what has an index is not, and keeps the better rate that it has with few."""

    name: str
    what: str  # in a few words
    most: int | None
    extrapolated: bool

    def __init__(self, threads: int) -> None: ...

    def unavailable(self) -> str | None:
        """Why it cannot be run here, and what to do about it."""
        ...

    def unable(self, grid: Grid) -> str | None:
        """Which part of the filters it cannot express."""
        ...

    def load(self, grid: Grid) -> None:
        """Takes the filters and the events."""
        ...

    def counts(self, first: int, last: int) -> Counts:
        """How many filters each of the events [first, last) matches."""
        ...

    def close(self) -> None:
        """Gives back what it holds."""
        ...


def make_peer(name: str, threads: int = 1) -> Peer:
    module, _, attribute = PEERS[name].partition(":")
    made: Peer = getattr(import_module(module), attribute)(threads)
    return made
