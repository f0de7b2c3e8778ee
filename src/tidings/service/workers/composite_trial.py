"""Questions for the processes of `inquiries`: a composite tried on stored events, and what one waits for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tidings.composite.trace import Detection, EventKey, awaited_part
from tidings.errors import Explained, ServiceError
from tidings.language.composites import BoundComposite
from tidings.schema import Instant
from tidings.service.actions.filters import read_composite
from tidings.service.workers.questions import StoredEvent, days_of, scope
from tidings.store import Standing, Store

_DAY = 86_400_000_000
_MOST_KEYS = 10_000  # of which partial matches are counted


class NotComposite(Explained, ServiceError):
    """A subscription with a filter, which waits for nothing but the next event."""

    id: str
    template = (
        "subscription {id!v} has a filter, which looks at each event on its own; only composites have partial matches"
    )


@dataclass(frozen=True, slots=True)
class TriedEvent:
    """An event of a detection; `stored` is None for a time event, and where it was removed."""

    key: EventKey
    stored: StoredEvent | None


@dataclass(frozen=True, slots=True)
class TriedDetection:
    """`key`: the values of `by`. `expired`: what a partial match waited for in vain; '' where it is complete."""

    time: Instant
    key: dict[str, Any]
    events: tuple[TriedEvent, ...]
    expired: str = ""


@dataclass(frozen=True, slots=True)
class CompositeTried:
    """What a composite is, and what it would have detected. `until`: how far time ran; `of_newest`: how many positions
    were looked at, where the period has more; `dropped`: partial matches for which there was no room."""

    composite: str
    warnings: tuple[str, ...]
    detected: int
    scanned: int
    of_newest: int | None
    unreadable: int
    dropped: int
    until: Instant | None
    per_day: tuple[tuple[str, int], ...]
    newest: tuple[TriedDetection, ...]


@dataclass(frozen=True, slots=True)
class WaitNow:
    """As `composite.waiting.Wait`, with its sentence."""

    awaited: str
    must_not: bool
    partial: int
    missing: int
    expires: Instant | None
    told: str


def tried(
    store: Store, composite: str, begin: Instant | None, end: Instant, newest: int, last: int, most_waiting: int
) -> CompositeTried:
    """On the events accepted since `begin`, the `last` positions of them. Raises LanguageError."""
    from tidings.pipeline.batch.composite_history import detected

    bound = read_composite(composite, store)
    first, upto = scope(store, begin, None)
    after = max(first, upto - last)
    found = detected(store, bound, after, upto, end, most_waiting)
    days = Counter(one.time // _DAY for one in found.detections)
    shown = found.detections[::-1][:newest]
    period = end if begin is None else begin
    return CompositeTried(
        bound.text,
        bound.warnings,
        len(found.detections),
        found.events,
        upto - after if after > first else None,
        found.unreadable,
        found.dropped,
        found.until,
        days_of(days, period, end),
        tuple(_seen(store, bound, one) for one in shown),
    )


def waiting(store: Store, standing: Standing) -> tuple[WaitNow, ...]:
    """What a subscription waits for, as its query has it; where the query has not come to it, as the stored events of
    its last frames say. Nothing while it is paused. Raises NotComposite."""
    if not standing.composite:
        raise NotComposite(standing.id)
    if standing.span is None:
        return ()
    (entry,) = store.entries(standing.span - 1, standing.span)
    bound, now = read_composite(standing.filter, store), store.clock.now()
    bodies = store.composite_states(standing.span, _MOST_KEYS)
    if bodies is None:
        from tidings.pipeline.batch.composite_history import waits as computed

        found = computed(store, bound, entry.accepted, now)
    else:
        from tidings.composite.program import Program
        from tidings.composite.stored import load_entry
        from tidings.composite.waiting import waits

        program = Program.of(bound.composite, int(entry.accepted), store.catalog())
        found = waits(bound.composite, program, (load_entry(body).states for body in bodies))
    return tuple(WaitNow(*one, one.sentence(now)) for one in found)


def _seen(store: Store, bound: BoundComposite, detection: Detection) -> TriedDetection:
    key = dict(zip(bound.composite.by, detection.key, strict=True))
    events = tuple(_constituent(store, one) for one in detection.events)
    expired = awaited_part(bound.composite.tree, detection.awaited)
    return TriedDetection(Instant(detection.time), key, events, expired)


def _constituent(store: Store, key: EventKey) -> TriedEvent:
    position = store.position_of(key.source, key.id)
    found = () if position is None else store.entries(position - 1, position)
    stored = next((StoredEvent(one.position, one.accepted, one.body) for one in found if one.kind == "event"), None)
    return TriedEvent(key, stored)
