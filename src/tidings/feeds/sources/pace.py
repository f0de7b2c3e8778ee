"""How far a long look at a source is: told every few seconds, with the rate and, where it is known, the time left."""

from __future__ import annotations

import time
from collections.abc import Callable

from tidings.feeds.records.records import Located
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.packed import unpacked

BETWEEN = 5.0  # seconds


class Pace:
    """Of one look at a source, which may have thousands of files."""

    def __init__(self, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._clock = tell, clock
        self._begun = self._told = clock()
        self._before = 0  # records of the files that are done
        self._place, self._lines, self._last = "", 0, 0

    def see(self, content: Content, last: Located) -> None:
        """The last record of the content that is done with."""
        if content.place != self._place:
            self._before += self._last
            self._place, self._lines = content.place, 0
        self._last = last.number
        now = self._clock()
        if now - self._told < BETWEEN:
            return
        self._told = now
        spent = now - self._begun
        records = self._before + last.number
        files = f"file {content.number:,} of {content.of:,}, " if content.of > 1 else ""
        said = f"{content.place}: {files}{records:,} records, {records / spent:,.0f}/s"
        share = (content.number - 1 + self._share(content, last)) / content.of
        if share:
            said += f", {share:.0%}, about {spent * (1 - share) / share:,.0f} s left"
        self._tell(said)

    def _share(self, content: Content, last: Located) -> float:
        """Of the content: by its lines, else by its records; 0 where neither is known."""
        if content.large is not None:
            return content.large.share
        if last.of:
            return min(1.0, last.number / last.of)
        if not last.line:
            return 0.0
        self._lines = self._lines or unpacked(content.place, content.body).count(b"\n") + 1
        return min(1.0, last.line / self._lines)
