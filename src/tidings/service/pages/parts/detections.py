"""What composites detected, as pages show it: on a timeline, with the events that took part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidings.service.pages.parts.timeline import DetectionPicture, detection_picture
from tidings.store import Notification, Store
from tidings.store.journal.entries import Constituent, Detection
from tidings.store.pages.recent import decoded


@dataclass(frozen=True, slots=True)
class ShownDetection:
    """`key`: the values of `by`. An event is None where it was removed, and for a time event. `expired`: what a partial
    match waited for in vain; '' where it is complete."""

    drawn: DetectionPicture
    key: str
    events: tuple[tuple[Constituent, dict[str, Any] | None], ...]
    expired: str = ""


def shown_detections(store: Store, found: Iterable[Notification]) -> dict[str, ShownDetection]:
    """By id; of matches of filters there are none. It takes its time: call it in a thread."""
    ids = {one.detection for one in found} - {""}
    known = store.detections(ids) if ids else {}
    positions = {event.position for one in known.values() for event in one.events if event.position is not None}
    texts = store.events_at(positions)
    return {id: _shown(one, texts) for id, one in known.items()}


def _shown(one: Detection, texts: dict[int, str]) -> ShownDetection:
    events = []
    for event in one.events:
        text = None if event.position is None else texts.get(event.position)
        events.append((event, None if text is None else decoded(text)))
    drawn = detection_picture([event.time for event in one.events], one.time, bool(one.expired))
    return ShownDetection(drawn, ", ".join(map(str, one.key)), tuple(events), one.expired)
