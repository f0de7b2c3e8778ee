"""What a task leaves out for an account's quota, so that it is neither staged nor read by the sink.

A task knows only its own stretch, so it keeps whole events until its own count alone has reached the quota; the exact
cut is the sink's (`tidings.store.notifications.quota_counts`). What is left out is still counted, by one row for an
event and account."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.matching.algorithm import Matches
from tidings.store.notifications.quotas import Quotas

Rows = npt.NDArray[np.int64]


class LeftOut(NamedTuple):
    """The number of matches of an event (its row in the batch) beyond the owner's quota."""

    event: int
    owner: str
    matches: int


class QuotaCut:
    """For the positions [first, last], which it must see in order. `quotas` gives those of some accounts."""

    def __init__(self, quotas: Callable[[Iterable[str]], Quotas], first: int, last: int) -> None:
        self._quotas, self._first, self._last = quotas, first, last
        self._most: dict[str, int] = {}  # that some position of the stretch allows, by account
        self._minute = -1
        self._counts: dict[str, int] = {}  # of this minute

    def copy(self) -> QuotaCut:
        made = QuotaCut(self._quotas, self._first, self._last)
        made._most, made._minute, made._counts = self._most, self._minute, dict(self._counts)
        return made

    def cut(self, matches: Matches, owners: Any, names: list[str], minutes: Rows) -> tuple[Any, list[LeftOut]]:
        """Which matches to keep, as a mask, or None for all; and what is left out. `owners` gives the owner's place in
        `names` for each match, `minutes` is by event."""
        keep: Any = None
        left: list[LeftOut] = []
        starts = [0, *(np.flatnonzero(np.diff(minutes)) + 1).tolist()]
        for first, last in zip(starts, [*starts[1:], len(minutes)], strict=True):
            if minutes[first] != self._minute:
                self._minute, self._counts = int(minutes[first]), {}
            start, stop = int(matches.offsets[first]), int(matches.offsets[last])
            counts = np.bincount(owners[start:stop], minlength=len(names))
            places = np.flatnonzero(counts).tolist()
            self._learn([names[place] for place in places])
            for place in places:
                name, found = names[place], int(counts[place])
                before = self._counts.get(name, 0)
                self._counts[name] = before + found
                if before + found <= (most := self._most[name]):
                    continue
                mine = start + np.flatnonzero(owners[start:stop] == place)
                rows = np.searchsorted(matches.offsets, mine, side="right") - 1 - first
                each = np.bincount(rows, minlength=last - first)
                beyond = before + np.cumsum(each) - each >= most  # events before which the quota was reached
                keep = np.ones(len(matches), np.bool_) if keep is None else keep
                keep[mine[beyond[rows]]] = False
                left += [
                    LeftOut(first + row, name, int(each[row])) for row in np.flatnonzero(beyond & (each > 0)).tolist()
                ]
        return keep, left

    def _learn(self, accounts: list[str]) -> None:
        if new := [name for name in accounts if name not in self._most]:
            quotas = self._quotas(new)
            for name in new:
                self._most[name] = max(quota for _, quota in quotas.steps(name, self._first, self._last))
