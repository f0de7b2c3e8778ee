"""The result of `Matcher.match`: pairs of an event and a subscription, as Python values or as columns."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.events.reader import RefusedRow
from tidings.matching.algorithm import Cost, Matches
from tidings.matching.ragged import offsets_of, owners
from tidings.matching.spans import Numbers, Positions, Spans

_SHOWN = 5  # matches in a repr
_SHOWN_HTML = 20
_CHUNK = 1 << 20  # matches in a chunk of a table


class Match(NamedTuple):
    """An event's id and a subscription that it matches."""

    event: str
    subscription: str


class MatchResult:
    """The matches in event order; those of one event in the order in which the subscriptions were added.

    Iterate over it for `Match(event, subscription)` tuples, or convert all at once: `to_arrow`, `to_pandas` and
    `to_polars` return the columns `event` and `subscription`. `refused` lists the events skipped by `on_error="skip"`;
    `cost` says how many filters were examined."""

    def __init__(
        self, ids: list[Any], rows: list[Any], matches: list[Matches], spans: Spans, refused: list[RefusedRow]
    ):
        self._ids = pa.chunked_array(ids, pa.string())
        self._given = np.concatenate([np.zeros(0, np.int64), *rows])
        lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(one.offsets) for one in matches)])
        self._offsets: Positions = offsets_of(lengths)
        self._found = [one.numbers for one in matches]
        self._spans = spans
        self._ordered: Numbers | None = None
        self.refused = tuple(refused)
        self.cost = sum((one.cost for one in matches), Cost())

    def __len__(self) -> int:
        return int(self._offsets[-1])

    def __iter__(self) -> Iterator[Match]:
        for start in range(0, len(self), _CHUNK):
            part = self._part(start, min(start + _CHUNK, len(self)))
            yield from map(Match._make, zip(*(column.to_pylist() for column in part.columns), strict=True))

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """For each match, the row of its event in the input, from 0: `frame.iloc[result.rows]`."""
        return self._given[self._places(0, len(self))]

    def to_arrow(self) -> Any:
        """A pyarrow Table; creates no Python object per match."""
        parts = [self._part(start, min(start + _CHUNK, len(self))) for start in range(0, len(self), _CHUNK)]
        schema = pa.schema([("event", pa.string()), ("subscription", pa.string())])
        return pa.Table.from_batches(parts, schema)

    def to_pandas(self) -> Any:
        """A pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A polars DataFrame; needs polars."""
        from polars import from_arrow

        return from_arrow(self.to_arrow())

    def by_event(self) -> dict[str, list[str]]:
        """The subscriptions of each event with at least one."""
        found: dict[str, list[str]] = {}
        for event, subscription in self:
            found.setdefault(event, []).append(subscription)
        return found

    def __repr__(self) -> str:
        matches = "1 match" if len(self) == 1 else f"{len(self):,} matches"
        events = "1 event" if len(self._ids) == 1 else f"{len(self._ids):,} events"
        first = ", ".join(f"{event} → {subscription}" for event, subscription in islice(self, _SHOWN))
        more = ", …" if len(self) > _SHOWN else ""
        refused = f"; {len(self.refused):,} refused" if self.refused else ""
        return f"<{matches} in {events}{': ' * bool(len(self))}{first}{more}{refused}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(event)}</td><td>{escape(subscription)}</td></tr>"
            for event, subscription in islice(self, _SHOWN_HTML)
        )
        refused = f", {len(self.refused):,} events refused" if self.refused else ""
        note = f"<p>{len(self):,} matches in {len(self._ids):,} events{refused}</p>"
        return f"<table><tr><th>event</th><th>subscription</th></tr>{rows}</table>{note}"

    def _part(self, start: int, stop: int) -> Any:
        """A range of the matches as a RecordBatch."""
        places = self._places(start, stop)
        first, last = places[0], places[-1]
        events = self._ids.slice(first, last - first + 1).combine_chunks().take(pa.array(places - first))
        subscriptions = _ids_of(self._numbers()[start:stop], self._spans)
        return pa.RecordBatch.from_arrays([events, subscriptions], ["event", "subscription"])

    def _places(self, start: int, stop: int) -> Positions:
        """The rows of the events of a range of matches."""
        first, last = np.searchsorted(self._offsets, (start, stop), side="right") - 1
        bounds = np.clip(self._offsets[first : last + 2], start, stop)
        within: Positions = owners(bounds) + first
        return within

    def _numbers(self) -> Numbers:
        """The subscriptions of each event in the order in which they were added."""
        if self._ordered is None:
            numbers = np.concatenate([np.zeros(0, np.int32), *self._found])
            events = owners(self._offsets)
            wide = events * len(self._spans)
            self._ordered = (np.sort(wide + numbers) - wide).astype(np.int32)
            self._found = []
        return self._ordered


def _ids_of(numbers: Numbers, spans: Spans) -> Any:
    """Looks up each id once, even if its number repeats."""
    if len(numbers) < len(spans):
        return spans.ids_of(numbers)
    used = np.zeros(len(spans), np.bool_)
    used[numbers] = True
    place = np.cumsum(used) - 1
    return spans.ids_of(np.flatnonzero(used).astype(np.int32)).take(pa.array(place[numbers]))
