"""A notification as answers and streams have it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tidings.notifying.delivery import named
from tidings.store import Notification, Store
from tidings.store.journal.entries import Detection
from tidings.store.notifications.notification_id import id_without_event, notification_id_of

_encode = msgspec.json.Encoder().encode


def notification_json(
    one: Notification, event: msgspec.Raw | None, name: str = "", detection: Detection | None = None
) -> dict[str, object]:
    """As every route shows it; `name` is the subscription's. Of a composite the event is the last constituent."""
    if one.detection:
        id = one.detection
    elif event is None:
        id = id_without_event(one.subscription, one.position, one.stored)
    else:
        id = notification_id_of(one.subscription, event)
    return {
        "id": id,
        **named(one.subscription, name),
        "event": event,
        "matched_at": str(one.stored),
        **({} if detection is None else {"detection": detection.as_json()}),
    }


def raw_events(store: Store, found: Iterable[Notification]) -> dict[int, msgspec.Raw]:
    """By position; one that was removed has none."""
    texts = store.events_at({one.position for one in found})
    return {position: msgspec.Raw(text.encode()) for position, text in texts.items()}


def detections(store: Store, found: Iterable[Notification]) -> dict[str, Detection]:
    """Of those that composites made, by id."""
    ids = {one.detection for one in found} - {""}
    return store.detections(ids) if ids else {}


def server_sent(
    one: Notification, event: msgspec.Raw | None, name: str = "", detection: Detection | None = None
) -> bytes:
    """One server-sent event. A line break can stand in JSON only as white space."""
    body = _encode(notification_json(one, event, name, detection)).replace(b"\n", b" ").replace(b"\r", b" ")
    return b"id: %d\nevent: notification\ndata: %b\n\n" % (one.cursor, body)
