"""How far a long page or file has been read: told every few seconds, with the rate and, by lines, the time left."""

from __future__ import annotations

import time
from collections.abc import Callable

from tidings.feeds.records.records import Located
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.packed import unpacked

BETWEEN = 5.0  # seconds


class Pace:
    def __init__(
        self, content: Content, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._content, self._tell, self._clock = content, tell, clock
        self._begun = self._told = clock()
        self._lines = 0  # of the file, counted when there is something to tell

    def see(self, last: Located) -> None:
        """The last record that is done with."""
        now = self._clock()
        if now - self._told < BETWEEN:
            return
        self._told = now
        spent = now - self._begun
        said = f"{self._content.place}: {last.number:,} records, {last.number / spent:,.0f}/s"
        if last.line:
            self._lines = self._lines or unpacked(self._content.place, self._content.body).count(b"\n") + 1
            share = min(1.0, last.line / self._lines)
            said += f", {share:.0%}, about {spent * (1 - share) / share:,.0f} s left"
        self._tell(said)
