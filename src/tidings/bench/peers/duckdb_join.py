"""DuckDB: a range join of the table of events with the table of filters, as anybody would write it."""

from __future__ import annotations

from importlib.util import find_spec
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


class DuckDbJoin:
    name = "duckdb"
    what = "DuckDB, a range join"
    most = None
    extrapolated = True

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.connection: Any = None

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
        counts = np.zeros(last - first, np.int64)
        for start in range(first, last, _EVENTS_AT_ONCE):
            found = self.connection.execute(self.query, [start, min(start + _EVENTS_AT_ONCE, last)]).fetchnumpy()
            counts += np.bincount(np.asarray(found["e"], np.int64) - first, minlength=last - first)
        return counts

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
