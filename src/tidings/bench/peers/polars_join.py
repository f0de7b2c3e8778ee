"""Polars: the same range join, by `join_where`."""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pyarrow as pa

from tidings.bench.grid import Grid
from tidings.bench.peers.duckdb_join import conditions, event_columns, filter_columns
from tidings.bench.results import Counts

_EVENTS_AT_ONCE = (
    64  # what the first two ranges admit is made whole before the others are tested: gigabytes for many events
)


class PolarsJoin:
    name = "polars"
    what = "Polars, join_where"
    most = None
    extrapolated = True

    def __init__(self, threads: int) -> None:
        self.threads = threads
        os.environ.setdefault("POLARS_MAX_THREADS", str(threads))  # read once, when polars is imported

    def unavailable(self) -> str | None:
        if not find_spec("polars"):
            return "not installed: pip install 'tidings[bench]'"
        import polars

        threads = polars.thread_pool_size()
        return None if threads == self.threads else f"runs with {threads} threads already, not {self.threads}"

    def unable(self, grid: Grid) -> str | None:
        return None

    def load(self, grid: Grid) -> None:
        import polars

        self.filters = polars.from_arrow(pa.table(filter_columns(grid)))
        self.events = polars.from_arrow(pa.table(event_columns(grid)))
        self.conditions = []
        for place, sign, column in conditions(grid):
            event, bound = polars.col(f"e{place}"), polars.col(column)
            compared = {">=": event >= bound, "<=": event <= bound, "<>": event != bound}
            self.conditions.append(compared[sign])

    def counts(self, first: int, last: int) -> Counts:
        counts = np.zeros(last - first, np.int64)
        for start in range(first, last, _EVENTS_AT_ONCE):
            events = self.events.slice(start, min(_EVENTS_AT_ONCE, last - start)).lazy()
            found = events.join_where(self.filters.lazy(), *self.conditions).select("e", "s").collect()
            counts += np.bincount(found["e"].to_numpy() - first, minlength=last - first)
        return counts

    def close(self) -> None:
        vars(self).clear()
