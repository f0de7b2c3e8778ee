"""A question for the processes of `inquiries`: the stored events that match a filter, the latest first, with a count of
them over the time in which they happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidings.events.occurrence import TimeBar, time_bars
from tidings.events.validation import FARTHEST_AHEAD
from tidings.language import Filter, print_filter
from tidings.language.tree import Contains
from tidings.schema import Instant
from tidings.schema.catalog import EVENT_TYPE
from tidings.service.actions.filters import read_filter
from tidings.service.workers.history_scan import HistoryScan, Occurrence
from tidings.service.workers.questions import StoredEvent, scope
from tidings.store import Store

_BARS = 60
_MOST_BYTES = 8 << 20  # of events in one answer


@dataclass(frozen=True, slots=True)
class Wanted:
    """The events that match the filter, are of the type, and happened in [begin, end). `before` is where the last page
    ended, as time and position; `upto` the position at which the search began."""

    filter: str = ""
    event_type: str = ""
    begin: Instant | None = None
    end: Instant | None = None
    before: tuple[int, int] | None = None
    upto: int | None = None
    limit: int = 25


@dataclass(frozen=True, slots=True)
class SoughtEvent:
    stored: StoredEvent
    occurred: Instant


@dataclass(frozen=True, slots=True)
class Sought:
    """`filter` says it all but for the time, '' for every event. `matched` and `bars` count all pages. `reached`:
    events at and below this position were not looked at."""

    filter: str
    warnings: tuple[str, ...]
    events: tuple[SoughtEvent, ...]
    next: tuple[int, int] | None
    matched: int
    looked: int
    unreadable: int
    bars: tuple[TimeBar, ...]
    upto: int
    reached: int | None


def sought(store: Store, wanted: Wanted) -> Sought:
    """Raises LanguageError."""
    filter, warnings = _bound(store, wanted)
    # No event happened later than some minutes after it was accepted: what was accepted before cannot be meant.
    earliest = None if wanted.begin is None else Instant(wanted.begin - FARTHEST_AHEAD)
    after, upto = scope(store, earliest, None)
    upto = upto if wanted.upto is None else min(upto, wanted.upto)
    scan = HistoryScan(store, filter).run(after, upto)
    found = [one for one in scan.found if _within(one, wanted)]
    last = sorted((one for one in found if wanted.before is None or one[:2] < wanted.before), reverse=True)
    events = _read(store, last[: wanted.limit])
    more = len(last) > len(events)
    return Sought(
        "" if filter is None else filter.text,
        warnings,
        events,
        (int(events[-1].occurred), events[-1].stored.position) if more and events else None,
        len(found),
        scan.looked,
        scan.unreadable,
        time_bars((one.occurred for one in found), _BARS),
        upto,
        scan.reached,
    )


def stored_events(store: Store, found: Sequence[Occurrence]) -> tuple[StoredEvent, ...]:
    """In the same order, as far as they fit into an answer; without those that were removed meanwhile."""
    bodies = store.events_at([one.position for one in found])
    taken: list[StoredEvent] = []
    size = 0
    for one in found:
        body = bodies.get(one.position)
        if body is None:
            continue
        size += len(body)
        if size > _MOST_BYTES and taken:
            break
        taken.append(StoredEvent(one.position, Instant(one.accepted), body))
    return tuple(taken)


def _read(store: Store, found: Sequence[Occurrence]) -> tuple[SoughtEvent, ...]:
    times = {one.position: Instant(one.occurred) for one in found}
    return tuple(SoughtEvent(one, times[one.position]) for one in stored_events(store, found))


def _bound(store: Store, wanted: Wanted) -> tuple[Filter | None, tuple[str, ...]]:
    """What is asked for as one filter: None where it is everything."""
    catalog = store.catalog()
    written, warnings = read_filter(wanted.filter, store) if wanted.filter.strip() else (None, ())
    if not wanted.event_type:
        return written, warnings
    of_type = print_filter(Contains(EVENT_TYPE, wanted.event_type))
    text = of_type if written is None else f"{of_type} and ({written.text})"
    return Filter.parse(text, catalog), warnings


def _within(one: Occurrence, wanted: Wanted) -> bool:
    return (wanted.begin is None or one.occurred >= wanted.begin) and (wanted.end is None or one.occurred < wanted.end)
