"""A look through the stored events from the newest on, for what a filter matches, bounded in events and in time.

Events whose types the filter cannot match are passed over unread, and may be left uncounted: a filter about cars is
tried on the last cars, however many bids came since."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from tidings.events.occurrence import read_envelope
from tidings.language import Filter
from tidings.store import Store

if TYPE_CHECKING:  # slow to load, and the service names this question
    from tidings.matching.reach import Reach

MOST_EVENTS = 200_000  # that one question looks at
MOST_SECONDS = 8.0  # that it takes; an answer has 20
_STRETCH = 10_000  # positions


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
    looked: int = 0  # at so many events
    tried: int = 0  # those among them that have types the filter can match
    unreadable: int = 0
    reached: int | None = None  # the position at and below which it has not looked, though it should
    event_types: tuple[str, ...] = ()  # that the filter can match

    def run(
        self, after: int, upto: int, most_tried: int | None = None,
        most_events: int = MOST_EVENTS, seconds: float = MOST_SECONDS,
    ) -> HistoryScan:  # fmt: skip
        """Until it has looked at them all, or has tried or looked at so many, or the time is up."""
        from tidings.matching.reach import Reach
        from tidings.pipeline.batch.history import single

        catalog = self.store.catalog()
        reach = None if self.filter is None else Reach(self.filter, catalog)
        self.event_types = catalog.event_type_names if reach is None else reach.event_types
        matcher = None if self.filter is None else single(self.filter, self.store)
        until = monotonic() + seconds
        while upto > after:
            start = max(after, upto - _STRETCH)
            for rows in reversed(list(self.store.event_rows(start, upto))):
                self._read(rows, reach, matcher, None if most_tried is None else most_tried - self.tried)
            upto = start
            if most_tried is not None and self.tried >= most_tried:
                return self
            if self.looked >= most_events or monotonic() > until:
                break
        self.reached = upto if upto > after else None
        return self

    def _read(self, rows: Any, reach: Reach | None, matcher: Any, room: int | None) -> None:
        """`room`: of events of the right types, only the last so many."""
        self.looked += len(rows)
        payloads, accepted = rows.column("payload").to_pylist(), rows.column("accepted").to_pylist()
        envelopes = [read_envelope(payload) for payload in payloads]
        self.unreadable += envelopes.count(None)
        places = [
            place
            for place, envelope in enumerate(envelopes)
            if envelope is not None and (reach is None or reach.admits(envelope.event_types))
        ]
        if room is not None:
            places = places[max(0, len(places) - room) :]
        self.tried += len(places)
        positions = rows.column("position").to_pylist()
        matched = {positions[place] for place in places}
        if matcher is not None and places:
            matched = self._matched(rows if len(places) == len(rows) else rows.take(places), matcher)
        for place in places:
            envelope = envelopes[place]
            if envelope is not None and positions[place] in matched:
                occurred = envelope.occurred(accepted[place])
                self.found.append(Occurrence(occurred, positions[place], accepted[place]))

    def _matched(self, rows: Any, matcher: Any) -> set[int]:
        from tidings.pipeline.batch.history import chosen

        answers = chosen(matcher, rows)
        problems = answers.column("problem")
        self.unreadable += len(answers) - problems.null_count
        return set(answers.filter(problems.is_null()).column("position").to_pylist())
