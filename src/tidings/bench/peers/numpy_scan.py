"""A vectorised full scan: every range of every filter is compared, attribute by attribute."""

from __future__ import annotations

import numpy as np

from tidings.bench.grid import Grid
from tidings.bench.results import Counts


class NumpyScan:
    name = "numpy"
    what = "numpy, a full scan of all ranges"
    most = None
    extrapolated = True

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def unavailable(self) -> str | None:
        return None

    def unable(self, grid: Grid) -> str | None:
        return None

    def load(self, grid: Grid) -> None:
        self.grid = grid
        self.excluding = grid.excluding

    def counts(self, first: int, last: int) -> Counts:
        grid = self.grid
        holds, one = np.empty(grid.subscriptions, bool), np.empty(grid.subscriptions, bool)
        counts = np.empty(last - first, np.int64)
        for event in range(first, last):
            holds[:] = True
            for place, value in enumerate(grid.events[:, event]):
                holds &= np.less_equal(grid.low[place], value, out=one)
                holds &= np.greater_equal(grid.high[place], value, out=one)
            for place in self.excluding:
                holds &= np.not_equal(grid.unequal[place], grid.events[place, event], out=one)
            counts[event - first] = len(np.flatnonzero(holds))
        return counts

    def close(self) -> None:
        vars(self).clear()
