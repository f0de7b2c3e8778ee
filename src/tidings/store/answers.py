"""What was answered to requests that carry an Idempotency-Key, so that one sent again gets the same answer."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, select

from tidings.schema import Instant
from tidings.store.database import Database
from tidings.store.tables import answers

KEPT = 24 * 60 * 60 * 1_000_000  # microseconds
_REMOVED_AT_ONCE = 100  # more than one comes, so old ones get fewer; and no request has to wait for thousands


@dataclass(frozen=True, slots=True)
class Answer:
    """`key` says whose request and under which key, `request` is a digest of what was asked."""

    key: bytes
    request: bytes
    status: int
    body: str
    stored: Instant


def one(connection: Connection, key: bytes, now: Instant) -> Answer | None:
    query = select(answers).where(answers.c.key == key, answers.c.stored > int(now) - KEPT)
    row = connection.execute(query).first()
    if row is None:
        return None
    return Answer(bytes(row.key), bytes(row.request), row.status, row.body, Instant(row.stored))


def keep(database: Database, answer: Answer, now: Instant) -> bool:
    with database.writing("answers") as connection:
        if one(connection, answer.key, now) is not None:
            return False
        old = select(answers.c.key).where(answers.c.stored <= int(now) - KEPT)
        some = old.order_by(answers.c.stored).limit(_REMOVED_AT_ONCE).scalar_subquery()
        connection.execute(delete(answers).where((answers.c.key == answer.key) | answers.c.key.in_(some)))
        values = {"key": answer.key, "request": answer.request, "status": answer.status, "body": answer.body}
        connection.execute(answers.insert().values(values | {"stored": int(answer.stored)}))
        return True
