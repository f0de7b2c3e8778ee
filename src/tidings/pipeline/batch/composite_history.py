"""A composite over the stored events of a journal, in this process: what it would have detected, what it waits for.

An event without a time counts by its acceptance, as in the stream. Leaves are matched in batches by the index; then the
detector goes through the matches in the order in which the events happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.composite.file_detections import FileDetections
from tidings.composite.frontier import lag, operand_lag
from tidings.composite.trace import MOST_WAITING, Detection
from tidings.composite.waiting import Wait, counts_from_start, longest
from tidings.events.validation import FARTHEST_AHEAD
from tidings.language.composites import BoundComposite
from tidings.language.composites.tree import expiring
from tidings.pipeline.stream.payloads import read_payloads
from tidings.schema import Instant
from tidings.store import Store

MOST_LOOKED_AT = 200_000  # positions, for what a composite waits for: some seconds
_ID = ""


@dataclass(frozen=True, slots=True)
class Detected:
    """In the order of their times. `until`: how far time ran; `dropped`: instances for which there was no room."""

    detections: tuple[Detection, ...]
    until: Instant | None
    events: int
    unreadable: int
    dropped: int


def detected(
    store: Store, bound: BoundComposite, after: int, upto: int, end: Instant, most_waiting: int = MOST_WAITING
) -> Detected:
    """Over the events at (after, upto]. Time runs on after the last event, until what it left open is over, but not
    beyond `end`. Of each operator and key `most_waiting` instances wait."""
    found, events, unreadable = _taken(store, bound, after, upto)
    if found.last is None:
        return Detected((), None, events, unreadable, 0)
    until = max(found.last, min(end, found.last + open_for(bound)))
    detections = tuple(one.detection for one in found.detections(until, most_waiting))
    return Detected(detections, Instant(until), events, unreadable, found.dropped.get(_ID, 0))


def waits(store: Store, bound: BoundComposite, start: Instant, now: Instant) -> list[Wait]:
    """What a composite that began at `start` waits for, by the stored events that may still matter to it."""
    since = start
    if not counts_from_start(bound.composite.tree):
        since = max(start, Instant(now - open_for(bound)))
    after = max(store.position_at(Instant(since - FARTHEST_AHEAD)), store.complete_from()) - 1
    after = max(after, store.tail() - MOST_LOOKED_AT)
    found, _, _ = _taken(store, bound, after, store.tail())
    return found.waits(_ID, since, now)


def open_for(bound: BoundComposite) -> int:
    """How long after an event a composite may become known that it takes part in, in microseconds."""
    tree = bound.composite.tree
    frames = [int(node.within) + operand_lag(node) for node in expiring(tree)] if bound.composite.expired else []
    return max(longest(tree) + lag(tree), *frames, 0)


def _taken(store: Store, bound: BoundComposite, after: int, upto: int) -> tuple[FileDetections, int, int]:
    catalog = store.catalog()
    found, events, unreadable = FileDetections({_ID: bound}, catalog), 0, 0
    for rows in _rows(store, after, upto):
        batch, problems = read_payloads(
            rows.column("payload").to_pylist(), rows.column("position"), rows.column("accepted"), catalog
        )
        found.take(batch, pc.coalesce(batch.times.cast(pa.int64()), batch.accepted).to_pylist())
        events += len(rows)
        unreadable += len(problems)
    return found, events, unreadable


def _rows(store: Store, after: int, upto: int) -> Iterator[Any]:
    yield from store.event_rows(after, upto) if upto > after else ()
