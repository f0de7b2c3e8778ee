"""What seems wrong with a page or file, told when it is news: not at each look, but again after it was right."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.records.json_values import CHANGED
from tidings.feeds.records.records import Record

_MOST_PLACES = 10_000
_FEWEST = 10  # records in which a path is empty before that is strange


class ToldOnce:
    """Remembers for each place what was told of it last."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._told: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def wrong(self, place: str, lines: Iterable[str]) -> None:
        """All that is wrong there now; nothing: it is right."""
        before = self._told.pop(place, ())
        now = tuple(lines)
        for line in now:
            if line not in before:
                self._tell(line)
        if now:
            self._told[place] = now
            if len(self._told) > _MOST_PLACES:
                self._told.popitem(last=False)


class EmptyPaths:
    """Which of a mapping's paths lead to nothing in all records of a page, once there are `fewest` records."""

    def __init__(self, mapping: Mapping, fewest: int = _FEWEST) -> None:
        found = [path for one in mapping.fields for path in (one.reading.path, one.parent) if path]
        # A column of CSV that the first line does not name is an error already, and an empty one is usual.
        self._left = set(found) if mapping.layout.format != "csv" or fewest < _FEWEST else set()
        self._records, self._fewest = 0, fewest

    def see(self, records: Sequence[Record]) -> None:
        self._records += len(records)
        for record in records if self._left else ():
            found = [path for path in self._left if any(one not in (None, "") for one in record.get(path, ()))]
            self._left.difference_update(found)

    def told(self, place: str) -> list[str]:
        if self._records < self._fewest:
            return []
        return [
            f"{place}: nothing found at {path!r} in any of {self._records:,} records; {CHANGED}"
            for path in sorted(self._left)
        ]
