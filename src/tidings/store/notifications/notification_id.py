"""The id of a notification: made of the subscription and the event's source and id; of a detection, of its key, its
constituents and its time.

So it stays the same wherever and however often the notification is made again, and positions that are used again after
a restore give no id to two different pieces of news.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from tidings.store.journal.projections import event_key


class _Envelope(msgspec.Struct):
    id: str
    source: str = ""


_envelope = msgspec.json.Decoder(_Envelope).decode


def notification_id(subscription: str, source: str, id: str) -> str:
    return _digest(subscription.encode("utf-8", "surrogatepass"), event_key(source, id))


def notification_id_of(subscription: str, event: str | bytes | msgspec.Raw) -> str:
    """Of an event as the journal keeps it."""
    envelope = _envelope(event)
    return notification_id(subscription, envelope.source, envelope.id)


def detection_id(
    subscription: str, key: Iterable[object], events: Iterable[tuple[str, str]], time: int, awaited: int = -1
) -> str:
    """`awaited`: of an expired partial match, the number of the part that it waited for."""
    parts = [event_key(source, id) for source, id in events]
    named = subscription.encode("utf-8", "surrogatepass"), msgspec.json.encode(list(key)), b"%d" % time
    what = (b"detection",) if awaited < 0 else (b"expired", b"%d" % awaited)
    return _digest(*what, *named, *parts)


def id_without_event(subscription: str, position: int, stored: int) -> str:
    """Where the event was removed, and its source and id cannot be told any more."""
    return _digest(subscription.encode("utf-8", "surrogatepass"), b"%d" % position, b"%d" % stored)


def digest_id(notifications: Iterable[str]) -> str:
    """Of several that are sent as one."""
    return _digest(b"digest", *(id.encode() for id in notifications))


def _digest(*parts: bytes) -> str:
    """Each with its length, so that no two lists of parts read the same."""
    return blake2b(b"".join(b"%d:%b" % (len(part), part) for part in parts), digest_size=16).hexdigest()
