"""The records of a source, gone through as often as inference needs them and never in memory together."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.mapping.mapping import Layout, Origin
from tidings.feeds.records.records import Located, Record, located_records
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.pace import Pace
from tidings.feeds.sources.sources import open_source

_BETWEEN = 1_000  # records between two looks at the clock
_SEED = 17


class SourceContents:
    """What a source has now: a page is fetched once, files are read again each time."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._page: list[Content] = []

    def __iter__(self) -> Iterator[Content]:
        if self._page:
            yield from self._page
            return
        source = open_source(self._origin, sample=True)
        try:
            for content in source.look():
                if self._origin.url:
                    self._page.append(content)
                yield content
        finally:
            source.close()


class SourceRecords:
    """Each time they are gone through `problems` says what could not be read, and `place` where the last one stands.

    `most`: how many are read; 0: all. `tell` hears every few seconds how far it is."""

    def __init__(
        self,
        contents: Iterable[Content],
        layout: Layout,
        paths: Iterable[str],
        *,
        most: int = 0,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._contents, self._layout, self._paths = contents, layout, tuple(paths)
        self.most, self._tell = most, tell
        self._at: tuple[Content, Located] | None = None
        self.problems: list[UnreadableFeed] = []

    def __iter__(self) -> Iterator[Record]:
        return islice(self._all(), self.most or None)

    def of(self, paths: Iterable[str]) -> SourceRecords:
        """The same records with the values at other paths."""
        return SourceRecords(self._contents, self._layout, paths, most=self.most, tell=self._tell)

    @property
    def place(self) -> str:
        if self._at is None:
            return ""
        content, found = self._at
        return f"{content.place}: {found.place}" if content.of > 1 else found.place

    def _all(self) -> Iterator[Record]:
        """What cannot be read in one file stops no other."""
        pace = Pace(self._tell)
        self.problems = []
        for content in self._contents:
            try:
                for number, found in enumerate(located_records(content, self._layout, self._paths), 1):
                    if not number % _BETWEEN:
                        pace.see(content, found)
                    self._at = content, found
                    yield found.record
            except UnreadableFeed as problem:
                self.problems.append(problem)


def spread(records: Iterable[Record], size: int) -> tuple[list[Record], int]:
    """All records, or a sample of `size`: the first half of it, and others from all over the rest; and how many records
    there are."""
    draw = random.Random(_SEED)
    rest = iter(records)
    first = list(islice(rest, size // 2))
    room = size - len(first)
    later: list[tuple[int, Record]] = []
    count = 0
    for count, record in enumerate(rest, 1):
        if count <= room:
            later.append((count, record))
        elif (at := int(draw.random() * count)) < room:
            later[at] = (count, record)
    later.sort(key=lambda one: one[0])
    return [*first, *(record for _, record in later)], len(first) + count
