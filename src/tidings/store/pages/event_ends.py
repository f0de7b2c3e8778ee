"""Both ends of the events in a journal: the newest few, decoded, and when the oldest was accepted.

Pages ask for them every other second, however many look. What was seen once is kept: only entries that came since are
read, so that a million subscription changes at either end are walked over once and not at every look (there is no
index of events alone, which would cost every publisher).
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

from sqlalchemy import Connection, select

from tidings.schema import Instant
from tidings.store.pages.recent import Seen, decoded
from tidings.store.store import Store
from tidings.store.tables import about, journal

MOST = 200  # events that are kept
_MOST_SIZE = 4 << 20  # characters of their JSON, together
_AT_LEAST = 8  # are kept, whatever their size
_ROWS = 20


class EventEnds:
    """Of one store; any thread may ask."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._newest: list[Seen] = []
        self._looked = 0  # the position up to which the newest are known
        self._oldest = 0  # the position before which there is no event

    def newest(self, limit: int) -> list[Seen]:
        """The last one first; fewer than asked for where they are large. Raises StoreError."""
        with self._lock, self._store.database.reading() as connection:
            tail, first = self._bounds(connection)
            if tail > self._looked:
                found = _kept([*_read(connection, self._looked, tail), *self._newest])
                self._newest, self._looked = found, tail
            return [seen for seen in self._newest if seen.position >= first][:limit]

    def oldest(self) -> Instant | None:
        """When the first event that is still there was accepted. Raises StoreError."""
        with self._lock, self._store.database.reading() as connection:
            tail, first = self._bounds(connection)
            query = select(journal.c.position, journal.c.accepted).where(
                journal.c.position >= max(first, self._oldest), journal.c.kind == "event"
            )
            found = connection.execute(query.order_by(journal.c.position).limit(1)).first()
            self._oldest = tail + 1 if found is None else found.position
            return None if found is None else Instant(found.accepted)

    def _bounds(self, connection: Connection) -> tuple[int, int]:
        """The last position, and the first at which an event can still be."""
        tail, first = connection.execute(select(about.c.tail, about.c.complete_from)).one()
        if tail < self._looked or tail + 1 < self._oldest:  # another journal has taken this one's place
            self._newest, self._looked, self._oldest = [], 0, 0
        return tail, first


def _read(connection: Connection, after: int, upto: int) -> list[Seen]:
    found: list[Seen] = []
    columns = (journal.c.position, journal.c.accepted, journal.c.body)
    while True:
        query = select(*columns).where(
            journal.c.kind == "event", journal.c.position > after, journal.c.position <= upto
        )
        rows = connection.execute(query.order_by(journal.c.position.desc()).limit(_ROWS)).all()
        found += [Seen(row.position, decoded(row.body), Instant(row.accepted), len(row.body)) for row in rows]
        if len(rows) < _ROWS or len(_kept(found)) < len(found):
            return found
        upto = rows[-1].position - 1


def _kept(events: Iterable[Seen]) -> list[Seen]:
    """As many of the newest as there is room for."""
    kept: list[Seen] = []
    size = 0
    for seen in events:
        size += seen.size
        if len(kept) == MOST or (size > _MOST_SIZE and len(kept) >= _AT_LEAST):
            break
        kept.append(seen)
    return kept
