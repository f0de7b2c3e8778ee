"""Detections become notifications without a pipeline."""

from tidings.schema import Instant
from tidings.store import Store
from tidings.store.journal.entries import Constituent
from tidings.store.notifications.composite_batch import CompositeBatch, Detected, detected_rows
from tidings.store.notifications.progress import COMPOSITES

T1, T2 = (Instant.parse(f"2026-05-01T10:00:0{second}Z") for second in (1, 2))


def commit_detected(store: Store, *found: Detected) -> int:
    """Those of everything in the journal that is not committed yet."""
    assert store.begin_composites()
    batch = CompositeBatch(store.committed(COMPOSITES) + 1, store.tail(), None)
    return store.commit_detections(batch, [detected_rows(found, store.known_places(batch.first, batch.last))])


def three_detections(store: Store, id: str, owner: str, first: str, second: str) -> None:
    """Of a pair with these events, of one that expired after the first, and of a composite without events."""
    span = store.subscription(id).span
    assert span is not None
    events = (Constituent(int(T1), "", first), Constituent(int(T2), "", second))
    pair = Detected(id, owner, span, ("mini", 5), events, int(T2))
    silence = Detected(id, owner, span, (), (), int(T2) + 1)
    half = Detected(id, owner, span, (), events[:1], int(T2) + 2, awaited=1, expired="[year > 0]")
    assert commit_detected(store, pair, silence, half) == 3
