"""Events from files and streams that never got into the journal, with every rule that they broke."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, func, select

from tidings.events import BrokenRule
from tidings.schema import Instant
from tidings.store.database import Database
from tidings.store.entries import DeadLetter, StoredLetter
from tidings.store.projections import event_key
from tidings.store.tables import dead_letters


def bury(database: Database, letters: Sequence[DeadLetter], now: Instant) -> int:
    """How many were new: one origin and place have one letter, the first."""
    by_key: dict[bytes, DeadLetter] = {}
    for letter in letters:
        by_key.setdefault(_key(letter), letter)
    with database.writing("letters") as connection:
        for row in database.dialect.find(connection, dead_letters.c.key, list(by_key)):
            del by_key[bytes(row[1])]
        last = connection.execute(select(func.max(dead_letters.c.number))).scalar() or 0
        rows = ((number, key, int(now), _body(letter)) for number, (key, letter) in enumerate(by_key.items(), last + 1))
        database.dialect.insert(connection, dead_letters, rows)
    return len(by_key)


def after_number(connection: Connection, after: int, limit: int) -> list[StoredLetter]:
    table = dead_letters
    query = select(table.c.number, table.c.stored, table.c.body).where(table.c.number > after)
    rows = connection.execute(query.order_by(table.c.number).limit(limit))
    return [StoredLetter(number, Instant(stored), _letter(body)) for number, stored, body in rows]


def _key(letter: DeadLetter) -> bytes:
    return event_key(letter.origin, letter.place)


def _body(letter: DeadLetter) -> str:
    """ASCII, so that zero characters and halves of surrogate pairs are kept as they were sent."""
    errors = [error.as_json() for error in letter.errors]
    members = {"origin": letter.origin, "place": letter.place, "id": letter.id, "raw": letter.raw, "errors": errors}
    return json.dumps(members)


def _letter(body: str) -> DeadLetter:
    members = json.loads(body)
    errors = tuple(BrokenRule(**error) for error in members.pop("errors"))
    return DeadLetter(**members, errors=errors)
