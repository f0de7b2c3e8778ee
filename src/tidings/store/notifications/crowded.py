"""Composites for which more instances waited than there is room: how many were dropped, and their owners' notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, update

from tidings.schema import Instant
from tidings.store.notifications.told import tell
from tidings.store.tables import about, crowded


class Crowded(NamedTuple):
    """`span`: where the subscription began to count."""

    span: int
    subscription: str
    owner: str
    dropped: int


def count_crowded(connection: Connection, new: Sequence[Crowded], now: Instant) -> None:
    """An owner is told when the first of a composite is dropped; an edited or resumed one is another composite."""
    for one in new:
        connection.execute(update(about).values(crowded=about.c.crowded + one.dropped))
        more = update(crowded).where(crowded.c.span == one.span).values(dropped=crowded.c.dropped + one.dropped)
        if connection.execute(more).rowcount:
            continue
        connection.execute(crowded.insert().values(span=one.span, dropped=one.dropped))
        if one.owner:
            text = (
                f"Your composite {one.subscription} does not report everything: more instances wait than this server "
                "keeps in one operator for a key, so the oldest are dropped; or an event has more than 1,000 "
                "combinations of values of 'by', so the rest are left out. Write a shorter 'within', narrower filters, "
                "or another 'by'."
            )
            tell(connection, one.owner, one.subscription, text, now)
