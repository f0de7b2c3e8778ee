"""DuckDB: a range join of the table of events with the table of filters, as anybody would write it.

Left to itself it takes an IE join, which here is half as quick as its other joins; so all three are tried on a few
events, and the quickest is measured.
"""

from __future__ import annotations

from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from tidings.bench.grid import Grid
from tidings.bench.results import Counts


def conditions(grid: Grid) -> list[tuple[int, str, str]]:
    """Each comparison as (attribute, sign, column of the filters); the events' columns are e0, e1, …"""
    made = []
    for place in range(len(grid.attributes)):
        made += [(place, ">=", f"l{place}"), (place, "<=", f"h{place}")]
    return made + [(place, "<>", f"u{place}") for place in grid.excluding]


def filter_columns(grid: Grid) -> dict[str, Any]:
    columns = {"s": pa.array(np.arange(grid.subscriptions, dtype=np.int32))}
    for place in range(len(grid.attributes)):
        columns[f"l{place}"], columns[f"h{place}"] = pa.array(grid.low[place]), pa.array(grid.high[place])
    return columns | {f"u{place}": pa.array(grid.unequal[place]) for place in grid.excluding}


def event_columns(grid: Grid) -> dict[str, Any]:
    columns = {"e": pa.array(np.arange(grid.events.shape[1], dtype=np.int32))}
    return columns | {f"e{place}": pa.array(row) for place, row in enumerate(grid.events)}


_EVENTS_AT_ONCE = 1000  # quicker than more and than fewer
_TRIED = 100  # events, to choose a join
_ALWAYS = 10**12
_JOINS = {  # by the sizes up to which DuckDB takes the simpler ones: merge_join_threshold, nested_loop_join_threshold
    "IE join": (0, 0),
    "piecewise merge join": (_ALWAYS, 0),
    "nested loop join": (_ALWAYS, _ALWAYS),
}


class DuckDbJoin:
    name = "duckdb"
    what = "DuckDB, a range join"
    most = None
    extrapolated = True

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.connection: Any = None
        self.chosen = ""

    def unavailable(self) -> str | None:
        return None if find_spec("duckdb") else "not installed: pip install 'tidings[bench]'"

    def unable(self, grid: Grid) -> str | None:
        return None

    def load(self, grid: Grid) -> None:
        import duckdb

        self.connection = duckdb.connect(":memory:", config={"threads": self.threads})
        for name, columns in (("filters", filter_columns(grid)), ("events", event_columns(grid))):
            self.connection.register("arrow", pa.table(columns))
            self.connection.execute(f"create table {name} as select * from arrow")
            self.connection.unregister("arrow")
        joined = " and ".join(f"e.e{place} {sign} f.{column}" for place, sign, column in conditions(grid))
        self.query = f"select e.e, f.s from (select * from events where e >= ? and e < ?) e join filters f on {joined}"

    def counts(self, first: int, last: int) -> Counts:
        if not self.chosen:
            self._choose()
        counts = np.zeros(last - first, np.int64)
        for start in range(first, last, _EVENTS_AT_ONCE):
            found = self.connection.execute(self.query, [start, min(start + _EVENTS_AT_ONCE, last)]).fetchnumpy()
            counts += np.bincount(np.asarray(found["e"], np.int64) - first, minlength=last - first)
        return counts

    def _choose(self) -> None:
        """By trying; the first use is not timed."""
        seconds = {}
        for name in _JOINS:
            self._set(name)
            started = perf_counter()
            self.connection.execute(self.query, [0, _TRIED]).fetchnumpy()
            seconds[name] = perf_counter() - started
        self.chosen = min(seconds, key=seconds.__getitem__)
        self._set(self.chosen)
        self.what = f"DuckDB, a range join ({self.chosen}, its quickest)"

    def _set(self, name: str) -> None:
        merge, nested = _JOINS[name]
        self.connection.execute(f"set merge_join_threshold = {merge}")
        self.connection.execute(f"set nested_loop_join_threshold = {nested}")

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
