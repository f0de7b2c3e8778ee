"""A look through the stored events from the newest on, for what a filter matches, bounded in events and in time.

Events whose types the filter cannot match may be left uncounted: a filter about cars is tried on the last cars, however
many bids came since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from tidings.language import Filter
from tidings.store import Store

if TYPE_CHECKING:  # slow to load, and the service names this question
    from tidings.matching.reach import Reach
    from tidings.pipeline.batch.query import Piece

MOST_EVENTS = 200_000  # that one question looks at
MOST_SECONDS = 8.0  # that it takes; an answer has 20
_STRETCH = 1 << 14  # positions


class Occurrence(NamedTuple):
    """Of an event that matches; the later it happened, the greater."""

    occurred: int
    position: int
    accepted: int


@dataclass(slots=True)
class HistoryScan:
    """What was found at the positions (after, upto], the newest stretch first."""

    store: Store
    filter: Filter | None
    found: list[Occurrence] = field(default_factory=list)
    looked: int = 0  # events looked at
    tried: int = 0  # those among them that have types the filter can match
    unreadable: int = 0
    reached: int | None = None  # the position at and below which it has not looked, though it should
    event_types: tuple[str, ...] = ()  # that the filter can match

    def run(
        self, after: int, upto: int, most_tried: int | None = None,
        most_events: int = MOST_EVENTS, seconds: float = MOST_SECONDS,
    ) -> HistoryScan:  # fmt: skip
        """Until it has looked at them all, has reached a limit, or the time is up."""
        from tidings.matching.reach import Reach
        from tidings.pipeline.batch.query import look

        catalog = self.store.catalog()
        reach = None if self.filter is None else Reach(self.filter, catalog)
        self.event_types = catalog.event_type_names if reach is None else reach.event_types
        until = monotonic() + seconds
        while upto > after:
            start = max(after, upto - _STRETCH)
            for piece in reversed(list(look(self.store, self.filter, start, upto))):
                self._read(piece, reach, None if most_tried is None else most_tried - self.tried)
            upto = start
            if most_tried is not None and self.tried >= most_tried:
                return self
            if self.looked >= most_events or monotonic() > until:
                break
        self.reached = upto if upto > after else None
        return self

    def _read(self, piece: Piece, reach: Reach | None, room: int | None) -> None:
        """`room`: at most this many of the newest events of the right types."""
        batch, names = piece.batch, self.store.known_catalog.event_type_names
        self.looked += len(batch) + len(piece.problems)
        self.unreadable += len(piece.problems)
        admitted: Sequence[int] = range(len(batch))
        if reach is not None:
            types = batch.event_types.to_pylist()
            admitted = [row for row, found in enumerate(types) if reach.admits(tuple(names[one] for one in found))]
        tried = admitted if room is None else admitted[max(0, len(admitted) - room) :]
        self.tried += len(tried)
        if not tried:
            return
        rows = piece.rows[piece.rows >= tried[0]]  # what matches has the right types
        positions, accepted, times = (
            part.take(rows).cast("int64").to_pylist() for part in (batch.positions, batch.accepted, batch.times)
        )
        for position, then, time in zip(positions, accepted, times, strict=True):
            self.found.append(Occurrence(then if time is None else time, position, then))
