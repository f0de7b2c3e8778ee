"""Every event's watermark, and the journal's incarnation."""

from __future__ import annotations

import json
from uuid import uuid4

import sqlalchemy as sa
from alembic import op

from tidings.schema import Instant

revision = "0009"
down_revision = "0008"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_EVENTS_AT_ONCE = 10_000
_EVENTS = sa.text(
    "SELECT position, accepted, body FROM journal "
    "WHERE kind = 'event' AND position > :after ORDER BY position LIMIT :many"
)
_FILL = sa.text("UPDATE journal SET watermark = :watermark WHERE position = :position")


def upgrade() -> None:
    op.add_column("journal", sa.Column("watermark", _NUMBER))
    op.add_column("about", sa.Column("watermark", _NUMBER))
    op.add_column("about", sa.Column("incarnation", sa.Text, nullable=False, server_default=""))
    op.get_bind().execute(
        sa.text("UPDATE about SET watermark = :watermark, incarnation = :incarnation"),
        {"watermark": fill_watermarks(), "incarnation": uuid4().hex},
    )


def fill_watermarks() -> int | None:
    """A page of events at a time: a journal may be larger than memory. The times of removed events are unknown."""
    connection = op.get_bind()
    after, watermark = 0, None
    while rows := connection.execute(_EVENTS, {"after": after, "many": _EVENTS_AT_ONCE}).all():
        filled = []
        for row in rows:
            occurred = occurrence(row.body, row.accepted)
            watermark = occurred if watermark is None else max(watermark, occurred)
            filled.append({"position": row.position, "watermark": watermark})
        connection.execute(_FILL, filled)
        after = rows[-1].position
    return watermark


def occurrence(body: str, accepted: int) -> int:
    """An event that cannot be read stops nobody."""
    try:
        return int(Instant.parse(json.loads(body)["time"]))
    except (ValueError, LookupError, TypeError, RecursionError):
        return accepted
