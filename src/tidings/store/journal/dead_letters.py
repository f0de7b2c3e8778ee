"""Events from files and streams that never got into the journal, with every rule that they broke."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from tidings.events import BrokenRule
from tidings.schema import Instant
from tidings.store.databases.database import Database
from tidings.store.journal.entries import DeadLetter, StoredLetter
from tidings.store.journal.projections import event_key
from tidings.store.tables import about, dead_letters


def bury(database: Database, letters: Sequence[DeadLetter], now: Instant) -> int:
    """How many were new: one origin and place have one letter, the first."""
    by_key: dict[bytes, DeadLetter] = {}
    for letter in letters:
        by_key.setdefault(_key(letter), letter)
    with database.writing("letters") as connection:
        for row in database.dialect.find(connection, dead_letters.c.key, list(by_key), names=("key",)):
            del by_key[bytes(row.key)]
        if by_key:
            # Numbers are not used again when old letters were removed.
            more = update(about).values(letters=about.c.letters + len(by_key)).returning(about.c.letters)
            first = connection.execute(more).scalar_one() - len(by_key) + 1
            rows = [
                (number, key, int(now), _body(letter)) for number, (key, letter) in enumerate(by_key.items(), first)
            ]
            database.dialect.insert(connection, dead_letters, rows)
    return len(by_key)


def after_number(connection: Connection, after: int, limit: int) -> list[StoredLetter]:
    query = select(dead_letters).where(dead_letters.c.number > after).order_by(dead_letters.c.number)
    return [_stored(row) for row in connection.execute(query.limit(limit))]


def newest(connection: Connection, before: int | None, limit: int) -> list[StoredLetter]:
    """Below this number, where one is given, the newest first."""
    query = select(dead_letters).order_by(dead_letters.c.number.desc())
    if before is not None:
        query = query.where(dead_letters.c.number < before)
    return [_stored(row) for row in connection.execute(query.limit(limit))]


def _stored(row: Any) -> StoredLetter:
    return StoredLetter(row.number, Instant(row.stored), _letter(row.body))


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
