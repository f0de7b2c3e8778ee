"""What the processes of `inquiries` are asked, each a function of a store: explain, test, search.

The service imports this too, to name the questions; so what is slow to load is loaded where it is used.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from tidings.errors import Explained, ServiceError
from tidings.events import validate
from tidings.events.occurrence import occurred
from tidings.language import Filter
from tidings.language.analysis.satisfiability import never_matches
from tidings.schema import Instant
from tidings.service.actions.filters import matches_everything, read_filter
from tidings.service.workers.covers import covering
from tidings.store import Store

MOST_STEPS = 2_000_000  # of one explanation: some seconds
SCANNED = 200_000  # events that one question goes through at most: some seconds
_ROWS = 10_000
_MOST_BYTES = 8 << 20  # of events in one answer
_MOST_DAYS = 92  # of a longer period only days with matches are listed
_DAY = 86_400_000_000


class NoSuchEvent(Explained, ServiceError):
    """What it was looked for by."""

    place: str
    template = "no event {place}: it was never accepted, or was removed by retention"


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """`payload` is the event's JSON."""

    position: int
    accepted: Instant
    payload: str


@dataclass(frozen=True, slots=True)
class Found:
    """Events of the journal, and where to go on, if there is more. `unreadable`: damaged ones that were passed over."""

    events: tuple[StoredEvent, ...]
    next: int | None
    scanned: int
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Tried:
    """What a filter is, and what it would have matched."""

    filter: str
    warnings: tuple[str, ...]
    never_matches: bool
    matches_everything: bool
    covered_by: tuple[str, ...]  # subscriptions of the same owner
    matched: int
    scanned: int
    of_newest: int | None  # how many positions were looked at, where the period has more
    per_day: tuple[tuple[str, int], ...]  # by when they happened
    newest: tuple[StoredEvent, ...]
    unreadable: int


def canonical(store: Store, filter: str) -> str:
    """Raises LanguageError."""
    return Filter.parse(filter, store.catalog()).text


def stored(store: Store, position: int) -> StoredEvent:
    """Raises NoSuchEvent."""
    for entry in store.entries(position - 1, position):
        if entry.kind == "event":
            return StoredEvent(entry.position, entry.accepted, entry.body)
    raise NoSuchEvent(f"at position {position:,}")


def published(store: Store, source: str, id: str) -> StoredEvent:
    """Raises NoSuchEvent."""
    position = store.position_of(source, id)
    if position is None:
        raise NoSuchEvent(f"{id!r} of the source {source!r}")
    return stored(store, position)


def explain(
    store: Store,
    filter: str,
    raw: object,
    most_values: int | None = None,
    accepted: Instant | None = None,
    position: int | None = None,
) -> dict[str, Any]:
    """Why an event matches or not; `most_values` as in `validate`. An event that is not stored is explained as if it
    were accepted now. Raises LanguageError, RefusedEvent, TooManySteps."""
    from tidings.matching.explain import explain as explained

    catalog = store.catalog()
    bound = Filter.parse(filter, catalog)
    event = validate(raw, catalog, most_values=most_values)
    explanation = explained(bound, event, catalog, MOST_STEPS, accepted or store.clock.now(), position)
    return {**explanation.as_json(), "warnings": list(bound.warnings)}


def explain_stored(store: Store, filter: str, position: int) -> dict[str, Any]:
    """Raises NoSuchEvent too."""
    return _explain(store, filter, stored(store, position))


def explain_published(store: Store, filter: str, source: str, id: str) -> dict[str, Any]:
    """Raises NoSuchEvent too."""
    return _explain(store, filter, published(store, source, id))


def _explain(store: Store, filter: str, event: StoredEvent) -> dict[str, Any]:
    return explain(store, filter, msgspec.json.decode(event.payload), accepted=event.accepted, position=event.position)


def test(store: Store, owner: str, filter: str, begin: Instant, end: Instant, newest: int) -> Tried:
    """Raises LanguageError."""
    bound, warnings = read_filter(filter, store)
    catalog = store.catalog()
    first, upto = scope(store, begin, None)
    after = max(first, upto - SCANNED)
    days, last = Counter[int](), deque[StoredEvent](maxlen=newest)
    scanned = unreadable = 0
    for rows, found, wrong in matching(store, bound, after, upto):
        if not scanned and after > first:
            begin = Instant(rows.column("accepted")[0].as_py())
        scanned += len(rows)
        unreadable += wrong
        days.update(occurred(event.payload, event.accepted) // _DAY for event in found)
        last.extend(found)
    return Tried(
        bound.text,
        warnings,
        all(never_matches(conjunction, catalog) for conjunction in bound.conjunctions),
        matches_everything(bound, catalog),
        covering(store, owner, bound.text),
        days.total(),
        scanned,
        upto - after if after > first else None,
        days_of(days, begin, end),
        tuple(_fitting(reversed(last))),
        unreadable,
    )


def search(store: Store, filter: str, after: int, upto: int, limit: int, newest_first: bool = False) -> Found:
    """The events at (after, upto] that match, or all of them; those of one page. Raises LanguageError."""
    bound = Filter.parse(filter, store.catalog()) if filter else None
    return (_search_down if newest_first else _search_up)(store, bound, after, upto, limit)


def scope(store: Store, begin: Instant | None, end: Instant | None) -> tuple[int, int]:
    """The positions (after, upto] of a period, as far as events are still there."""
    after = 0 if begin is None else store.position_at(begin) - 1
    upto = store.tail() if end is None else store.position_at(end) - 1
    after = max(after, store.complete_from() - 1)
    return after, max(after, upto)


def _search_up(store: Store, filter: Filter | None, after: int, upto: int, limit: int) -> Found:
    taken: list[StoredEvent] = []
    scanned = unreadable = size = 0
    for rows, found, wrong in matching(store, filter, after, upto, _ROWS if filter else limit):
        scanned += len(rows)
        unreadable += wrong
        for event in found:
            taken.append(event)
            size += len(event.payload)
            if len(taken) == limit or size >= _MOST_BYTES:
                return Found(tuple(taken), _unless(event.position, upto), scanned, unreadable)
        if scanned >= SCANNED:
            return Found(tuple(taken), _unless(rows.column("position")[-1].as_py(), upto), scanned, unreadable)
    return Found(tuple(taken), None, scanned, unreadable)


def _search_down(store: Store, filter: Filter | None, after: int, upto: int, limit: int) -> Found:
    """Stretch by stretch from the end; `next` is the position below which to go on."""
    taken: list[StoredEvent] = []
    scanned = unreadable = size = 0
    lowest = max(after, upto - SCANNED)
    stretch = _ROWS if filter else max(limit, 100)
    while upto > lowest:
        start = max(lowest, upto - stretch)
        pieces = list(matching(store, filter, start, upto))
        scanned += sum(len(rows) for rows, _, _ in pieces)
        unreadable += sum(wrong for _, _, wrong in pieces)
        for event in reversed([event for _, found, _ in pieces for event in found]):
            taken.append(event)
            size += len(event.payload)
            if len(taken) == limit or size >= _MOST_BYTES:
                return Found(tuple(taken), _unless(event.position, after + 1), scanned, unreadable)
        upto = start
    return Found(tuple(taken), None if upto <= after else upto + 1, scanned, unreadable)


def _unless(position: int, end: int) -> int | None:
    return None if position == end else position


def matching(
    store: Store, filter: Filter | None, after: int, upto: int, size: int = _ROWS
) -> Iterator[tuple[Any, list[StoredEvent], int]]:
    """The positions and times of acceptance of some events, those of them that match, and how many cannot be read."""
    for rows, found in _scanned(store, filter, after, upto, size):
        readable = found if found.column("problem").null_count == len(found) else _readable(found)
        columns = (readable.column(name).to_pylist() for name in ("position", "accepted", "payload"))
        events = [StoredEvent(place, Instant(time), body) for place, time, body in zip(*columns, strict=True)]
        yield rows, events, len(found) - len(readable)


def _readable(found: Any) -> Any:
    return found.filter(found.column("problem").is_null())


def _scanned(store: Store, filter: Filter | None, after: int, upto: int, size: int) -> Iterator[tuple[Any, Any]]:
    if filter is not None:
        from tidings.pipeline.batch.query import scan

        yield from scan(store, filter, after, upto, size=size)
        return
    import pyarrow as pa

    for rows in store.event_rows(after, upto, size):
        yield rows, rows.append_column("problem", pa.nulls(len(rows), pa.string()))


def _fitting(events: Iterable[StoredEvent]) -> Iterator[StoredEvent]:
    size = 0
    for event in events:
        size += len(event.payload)
        if size > _MOST_BYTES:
            return
        yield event


def days_of(days: Counter[int], begin: Instant, end: Instant) -> tuple[tuple[str, int], ...]:
    """How many on each day of the period, and on those before it on which something happened that was accepted in
    it."""
    every: Iterable[int] = range(min([begin // _DAY, *days]), max([(end - 1) // _DAY, *days]) + 1)
    every = list(every)
    shown = every if 0 < len(every) <= _MOST_DAYS else sorted(days)
    return tuple((str(Instant(day * _DAY))[:10], days[day]) for day in shown)
