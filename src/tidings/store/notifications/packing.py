"""Wide events, which match very many subscriptions: noted in the transaction that stores their matches, packed later.

    stored as `wide`, noted in `unpacked`   ──>   a pack: `packed`, in pieces, then `packs`

A pack becomes visible when it is inserted into `packs`; the same transaction removes its events from `unpacked`. So a
reader finds each notification once, even if the process is killed in between (`packs`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, delete, select

from tidings.store.databases.database import Database, Dialect, Row
from tidings.store.notifications.packs import remove_rows
from tidings.store.tables import packed, packs, unpacked

MANY = 1_000  # matches of a wide event
MOST_EVENTS = 256  # that are looked up one by one
MOST_ROWS = 1_000_000  # of a pack, about; each takes some 100 bytes while it is made
IN_A_ROW = 256  # cursors
_AT_ONCE = 10_000  # rows that one transaction writes or removes
_READ = 100_000
_MATCHES = (
    "SELECT cursor, subscription, owner FROM notifications WHERE cursor >= ? AND cursor <= ? AND wide = 1 "
    "AND owner <> '' ORDER BY cursor"
)


class Cut(NamedTuple):
    """Positions that a transaction stores in part: the one it continues, the one it leaves unfinished."""

    begun: int | None = None
    unended: int | None = None


class Noted(NamedTuple):
    """The matches of an event, or of a part of one, stored under the cursors `first` to `last`."""

    first: int
    last: int
    position: int
    subscriptions: Any
    owners: Any


class Fresh:
    """Matches that this process stored and has not packed yet: reading them back takes longer than storing them."""

    def __init__(self) -> None:
        self._noted: dict[int, Noted] = {}

    def add(self, noted: list[Noted]) -> None:
        """Call it after the commit."""
        self._noted |= {one.first: one for one in noted}

    def take(self, first: int, last: int) -> Noted | None:
        noted = self._noted.pop(first, None)
        return noted if noted is not None and noted.last == last else None

    def clear(self) -> None:
        self._noted.clear()


def wide_rows(rows: Any, first: int, cut: Cut) -> tuple[Any, list[Noted]]:
    """The column `wide` of these rows (an array, or 0 or 1 for all) and the wide events among them. `first` is the
    first row's cursor. An event that is cut between two transactions is wide in all its parts."""
    if "owner" not in rows.schema.names:
        return 0, []
    positions = rows.column("position").to_numpy()
    starts = np.concatenate([[0], np.flatnonzero(np.diff(positions)) + 1])
    counts = np.diff([*starts, len(positions)])
    wide = (counts >= MANY) | np.isin(positions[starts], [one for one in cut if one is not None])
    owners = rows.column("owner")
    if not wide.any() or not pc.any(pc.not_equal(owners, "")).as_py():
        return 0, []
    noted = []
    for start, count in zip(starts[wide].tolist(), counts[wide].tolist(), strict=True):
        ids = rows.column("subscription").slice(start, count)
        names = owners.slice(start, count).dictionary_encode()
        noted.append(Noted(first + start, first + start + count - 1, int(positions[start]), ids, names))
    return 1 if wide.all() else pa.array(np.repeat(wide, counts).astype(np.int8)), noted


def note(connection: Connection, dialect: Dialect, noted: list[Noted]) -> None:
    dialect.insert(connection, unpacked, [one[:3] for one in noted])


def pack_when_due(database: Database, fresh: Fresh) -> None:
    with database.reading() as connection:
        waiting: list[Any] = [*connection.execute(select(unpacked).order_by(unpacked.c.first))]
    if len(waiting) >= MOST_EVENTS or sum(one.last - one.first + 1 for one in waiting) >= MOST_ROWS:
        pack(database, waiting, fresh)
        fresh.clear()


def pack(database: Database, events: list[Any], fresh: Fresh) -> None:
    """All of these rows of `unpacked`, from the first on, as one pack."""
    first, last = events[0].first, events[-1].last
    _remove_unfinished(database, first)
    rows = _rows(database, events, fresh)
    while piece := list(islice(rows, _AT_ONCE)):
        with database.writing("pipeline") as connection:
            database.dialect.insert(connection, packed, piece)
    with database.writing("pipeline") as connection:
        mine = select(unpacked.c.first).where(unpacked.c.first == first).with_for_update()
        if connection.execute(mine).first() is None:  # retention removed it meanwhile, with its notifications
            return
        connection.execute(packs.insert().values(first=first, last=last))
        connection.execute(delete(unpacked).where(unpacked.c.last <= last))


def _remove_unfinished(database: Database, pack: int) -> None:
    removed = 1
    while removed:
        with database.writing("pipeline") as connection:
            removed = remove_rows(connection, pack, _AT_ONCE)


def _rows(database: Database, events: list[Any], fresh: Fresh) -> Iterator[Row]:
    """Rows of a pack: one or more per owner, then one or more per owner and subscription."""
    pack = events[0].first
    cursors, subscriptions, owners = _read(database, events, fresh)
    names, of_owner = _ranked(owners)
    ids, of_subscription = _ranked(subscriptions)
    offsets = (cursors - pack).astype("<u4")
    del cursors, subscriptions, owners
    for key, last, packed_offsets in _grouped(of_owner, offsets):
        yield pack, names[key], "", pack + last, packed_offsets
    of_owner *= len(ids)
    of_owner += of_subscription
    for key, last, packed_offsets in _grouped(of_owner, offsets):
        owner, id = divmod(key, len(ids))
        yield pack, names[owner], ids[id], pack + last, packed_offsets


def _grouped(keys: Any, offsets: Any) -> Iterator[tuple[int, int, bytes]]:
    """The offsets of each key as bytes, at most `IN_A_ROW` at a time, with the last of them."""
    order = np.argsort(keys, kind="stable")  # they stay in order
    keys, offsets = keys[order], offsets[order]
    written = offsets.tobytes()
    starts = np.flatnonzero(np.diff(keys, prepend=-1)).tolist()
    for begin, end in zip(starts, [*starts[1:], len(keys)], strict=True):
        for at in range(begin, end, IN_A_ROW):
            stop = min(at + IN_A_ROW, end)
            yield int(keys[begin]), int(offsets[stop - 1]), written[4 * at : 4 * stop]


def _read(database: Database, events: list[Any], fresh: Fresh) -> tuple[Any, Any, Any]:
    """Cursors, subscriptions and owners of these events' notifications; those without an owner are left out."""
    cursors: list[Any] = [np.zeros(0, np.int64)]
    subscriptions, owners = [pa.array([], pa.string())], [pa.array([], pa.string())]
    with database.reading() as connection:
        for event in events:
            if (known := fresh.take(event.first, event.last)) is not None:
                names = known.owners.dictionary_decode()
                owned = pc.not_equal(names, "")
                cursors.append(np.arange(event.first, event.last + 1)[owned.to_numpy(zero_copy_only=False)])
                subscriptions.append(known.subscriptions.filter(owned))
                owners.append(names.filter(owned))
                continue
            for rows in database.dialect.stream(connection, _MATCHES, (event.first, event.last), _READ):
                columns = zip((pa.int64(), pa.string(), pa.string()), zip(*rows, strict=True), strict=True)
                some, ids, names = (pa.array(values, kind) for kind, values in columns)
                cursors.append(some.to_numpy())
                subscriptions.append(ids)
                owners.append(names)
    return np.concatenate(cursors), pa.chunked_array(subscriptions), pa.chunked_array(owners)


def _ranked(texts: Any) -> tuple[list[str], Any]:
    """The distinct texts in order, and each row's index among them."""
    coded = texts.combine_chunks().dictionary_encode()
    order = pc.sort_indices(coded.dictionary).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return coded.dictionary.take(pa.array(order)).to_pylist(), ranks[coded.indices.to_numpy()]
