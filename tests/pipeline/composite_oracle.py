"""What composites must have found, computed from the journal alone by the oracle, one span after another."""

from __future__ import annotations

import json
from typing import Any

from tidings.composite.oracle import Oracle
from tidings.composite.trace import EventKey, Occurrence, awaited_part
from tidings.events import Event, validate
from tidings.language.composites import BoundComposite
from tidings.language.composites.tree import Leaf, leaves
from tidings.matching.naive import matches
from tidings.schema import Catalog
from tidings.store import Store

Found = set[tuple[str, tuple[Any, ...], tuple[EventKey, ...], int, str]]


def detections_of(store: Store, lateness: int) -> Found:
    """Of all composites, up to the end of the journal."""
    entries = {entry.position: entry for entry in store.entries()}
    catalog = store.catalog()
    marks: dict[int, int] = {}  # the greatest time up to each position
    in_time: dict[int, tuple[int, Event]] = {}
    greatest = -(2**62)
    for position, entry in entries.items():
        if entry.kind == "event":
            event = validate(json.loads(entry.body), catalog)
            time = int(entry.accepted if event.time is None else event.time)
            if time >= greatest - lateness:
                in_time[position] = (time, event)
            greatest = max(greatest, time)
        elif entry.kind == "tick":
            greatest = max(greatest, int(entry.accepted))
        marks[position] = greatest
    found: Found = set()
    for span in store.spans(composite=True):
        last = store.tail() if span.stop is None else span.stop - 1
        bound = BoundComposite.parse(span.filter, catalog)
        trace = [
            _occurrence(time, event, bound, catalog)
            for position, (time, event) in in_time.items()
            if span.start <= position <= last
        ]
        until = marks[last] - lateness - 1
        oracle = Oracle(bound.composite, catalog, int(entries[span.start].accepted), until)
        found |= {
            (span.subscription, one.key, one.events, one.time, awaited_part(bound.composite.tree, one.awaited))
            for one in oracle.detections(trace)
        }
    return found


def stored_detections(store: Store) -> Found:
    """Each stored once."""
    told = [one for one in store.notifications(limit=1_000_000) if one.detection]
    known = store.detections(one.detection for one in told)
    listed = [(one.subscription, known[one.detection]) for one in told]
    found = {
        (name, one.key, tuple(EventKey(*event[:3]) for event in one.events), int(one.time), one.expired)
        for name, one in listed
    }
    assert len(found) == len(told) == len(known)
    return found


def _occurrence(time: int, event: Event, bound: BoundComposite, catalog: Catalog) -> Occurrence:
    values = event.bindings()
    places = enumerate(leaves(bound.composite.tree))
    matched = [place for place, leaf in places if isinstance(leaf, Leaf) and matches(leaf.filter, values, catalog)]
    return Occurrence(EventKey(time, event.source, event.id), frozenset(matched), values)
