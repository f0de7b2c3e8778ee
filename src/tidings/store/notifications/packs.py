"""Notifications of wide events, which match very many subscriptions, by owner and subscription.

With an ordinary index nearly every match of such an event would touch a page of its own. Instead, new ones are looked
up event by event, older ones in packs (`packing`). Packs do not overlap and precede everything unpacked, so both are
read in the order of cursors."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select, tuple_

from tidings.store.databases.database import Dialect, Row
from tidings.store.tables import notifications, packed, packs, unpacked

_MOST_TERMS = 64  # combined into one statement
END = 2**62  # beyond every cursor
_OF_PACK = "SELECT pack, last, cursors FROM packed WHERE pack = ? AND owner = ? AND subscription = ? AND last "
_UPWARDS = _OF_PACK + "> ? ORDER BY last LIMIT ?"
_DOWNWARDS = _OF_PACK + "< ? ORDER BY last DESC LIMIT ?"
_AROUND = _OF_PACK + ">= ? ORDER BY last LIMIT ?"
_OF_EVENT = (
    "SELECT cursor FROM notifications WHERE position = ? AND owner = ? AND wide = 1 AND cursor > ? AND cursor < ? "
)


@dataclass(frozen=True, slots=True)
class WideCursors:
    """The cursors of an owner's notifications, or of one of their subscriptions: those of wide events only."""

    connection: Connection
    dialect: Dialect
    owner: str
    subscription: str | None = None

    def upwards(self, after: int, limit: int) -> list[int]:
        """The first `limit` after a cursor."""
        after = max(after, self._removed())
        around = select(func.max(packs.c.first)).where(packs.c.first <= after)
        begin = self.connection.execute(around).scalar() or 0
        query = select(packs.c.first).where(packs.c.first >= begin).order_by(packs.c.first)
        found: list[int] = []
        for some in _growing(list(self.connection.execute(query).scalars())):
            found += self._packed(_UPWARDS, [(pack, after) for pack in some], limit)
            if len(kept := [one for one in sorted(found) if one > after]) >= limit:
                return kept[:limit]
        found += self._unpacked(after, END, limit, newest_first=False)
        return [one for one in sorted(found) if one > after][:limit]

    def downwards(self, before: int, limit: int, after: int = 0) -> list[int]:
        """The last `limit` before a cursor and above `after`, newest first."""
        after = max(after, self._removed())
        found = self._unpacked(after, before, limit, newest_first=True)
        if len(found) < limit:
            query = select(packs.c.first, packs.c.last).where(packs.c.first < before, packs.c.last > after)
            for some in _growing(self.connection.execute(query.order_by(packs.c.first.desc())).all()):
                found += self._packed(_DOWNWARDS, [(pack.first, before) for pack in some], limit)
                around = [(pack.first, before) for pack in some if pack.last >= before]
                found += self._packed(_AROUND, around, 1)
                if sum(after < one < before for one in found) >= limit:
                    break
        return sorted((one for one in found if after < one < before), reverse=True)[:limit]

    def _removed(self) -> int:
        """The last cursor that retention removed: the oldest pack may still name removed ones."""
        return int(self.connection.execute(select(func.min(notifications.c.cursor))).scalar() or 1) - 1

    def _packed(self, term: str, places: Iterable[tuple[int, int]], rows: int) -> list[int]:
        """From the packs: up to `rows` rows of each; a row holds one cursor or more."""
        key = (self.owner, self.subscription or "")
        asked = [(pack, *key, bound, rows) for pack, bound in places]
        return [cursor for row in self._together(term, asked) for cursor in cursors_of(row.pack, row.cursors)]

    def _unpacked(self, after: int, before: int, limit: int, newest_first: bool) -> list[int]:
        """Bounded by cursors as well as by event, since parts of an event may be packed already."""
        query = select(unpacked).where(unpacked.c.last > after, unpacked.c.first < before)
        events = self.connection.execute(query.order_by(unpacked.c.first)).all()
        if self.subscription is not None:
            return self._of_subscription(events, after, before)
        found: list[int] = []
        term = _OF_EVENT + f"ORDER BY cursor {'DESC' if newest_first else ''} LIMIT ?"
        for some in _growing(events[::-1] if newest_first else events):
            bounds = [(one.position, max(after, one.first - 1), min(before, one.last + 1)) for one in some]
            asked = [(position, self.owner, above, below, limit) for position, above, below in bounds]
            found += [row.cursor for row in self._together(term, asked)]
            if len(found) >= limit:
                break
        return found

    def _of_subscription(self, events: Sequence[Any], after: int, before: int) -> list[int]:
        """At most one per event, found through the unique index."""
        if not events:
            return []
        table, positions = notifications, {one.position for one in events}
        query = select(table.c.cursor).where(table.c.position.in_(positions), table.c.subscription == self.subscription)
        query = query.where(table.c.detection == "", table.c.owner == self.owner, table.c.wide == 1)
        first = max(after + 1, events[0].first)
        return [cursor for cursor in self.connection.execute(query).scalars() if first <= cursor < before]

    def _together(self, term: str, asked: Sequence[Row]) -> list[Any]:
        if not asked:
            return []
        query = " UNION ALL ".join(f"SELECT * FROM ({term}) AS one{number}" for number in range(len(asked)))
        return self.dialect.page(self.connection, query, tuple(value for one in asked for value in one))


def forget_packs(connection: Connection, first: int, limit: int) -> None:
    """Removes packs whose cursors all lie before `first`, the first one kept, and about `limit` rows of theirs. A pack
    in the making still has its first event in `unpacked`, and is left alone."""
    connection.execute(delete(packs).where(packs.c.first < first, packs.c.last < first))
    connection.execute(delete(unpacked).where(unpacked.c.first < first, unpacked.c.last < first))
    oldest = connection.execute(select(func.min(packed.c.pack))).scalar()
    if oldest is None or oldest >= first:
        return
    for table in (packs, unpacked):
        if connection.execute(select(table.c.first).where(table.c.first == oldest)).first() is not None:
            return
    remove_rows(connection, oldest, limit)


def remove_rows(connection: Connection, pack: int, limit: int) -> int:
    """Removes about `limit` rows of a pack, up to the end of a subscription's rows; returns how many."""
    mine = packed.c.pack == pack
    keys = (packed.c.owner, packed.c.subscription)
    upto = connection.execute(select(*keys).where(mine).order_by(*keys, packed.c.last).offset(limit).limit(1)).first()
    if upto is not None:
        mine &= tuple_(*keys) <= tuple_(upto.owner, upto.subscription)
    return connection.execute(delete(packed).where(mine)).rowcount


def cursors_of(pack: int, packed: bytes) -> Iterator[int]:
    return (pack + offset for (offset,) in struct.iter_unpack("<I", packed))


def _growing(all: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """One at first, then more at a time: often the first is enough."""
    first, size = 0, 1
    while first < len(all):
        yield all[first : first + size]
        first, size = first + size, min(4 * size, _MOST_TERMS)
