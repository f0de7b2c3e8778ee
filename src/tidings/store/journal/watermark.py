"""The watermark: how far the events up to a position have come in their own time.

It is the latest occurrence time among them; an event without one, and a tick, counts by its time of acceptance. Since
their rows carry it, it depends on the position alone and not on how anybody cuts batches.
"""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, select

from tidings.schema import Instant
from tidings.store.tables import about, journal


class _Envelope(msgspec.Struct):
    time: str | None = None


_envelope = msgspec.json.Decoder(_Envelope).decode


def raised(watermark: int | None, kind: str, body: str, accepted: int) -> int | None:
    """After an entry of this kind with this body; raises msgspec.MsgspecError or ValueError where it is no event."""
    if kind not in ("event", "tick"):
        return watermark
    time = _envelope(body).time
    occurred = accepted if time is None else int(Instant.parse(time))
    return occurred if watermark is None else max(watermark, occurred)


def watermark_at(connection: Connection, position: int) -> Instant | None:
    """Of the last event at or before the position; None where there is none, or it was removed."""
    query = select(journal.c.watermark).where(journal.c.position <= position, journal.c.watermark.is_not(None))
    found = connection.execute(query.order_by(journal.c.position.desc()).limit(1)).scalar()
    return None if found is None else Instant(found)


def before_first_event(connection: Connection) -> int | None:
    """A value from which on all events of the journal, those that were not removed, get the watermarks they have."""
    query = select(journal.c.watermark).where(journal.c.watermark.is_not(None)).order_by(journal.c.position).limit(1)
    first: int | None = connection.execute(query).scalar()
    last: int | None = connection.execute(select(about.c.watermark)).scalar_one()
    return last if first is None else first
