"""What was answered to requests that carry an Idempotency-Key, so that one sent again gets the same answer."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, select

from tidings.schema import Instant
from tidings.store.databases.database import Database
from tidings.store.databases.seal import opened_body, sealed_body
from tidings.store.tables import kept_responses

KEPT = 24 * 60 * 60 * 1_000_000  # microseconds
_REMOVED_AT_ONCE = 100  # more than one comes, so old ones get fewer; and no request has to wait for thousands


@dataclass(frozen=True, slots=True)
class KeptResponse:
    """`key` says whose request and under which key, `request` is a digest of what was asked."""

    key: bytes
    request: bytes
    status: int
    body: str
    stored: Instant


def one(connection: Connection, key: bytes, now: Instant) -> KeptResponse | None:
    query = select(kept_responses).where(kept_responses.c.key == key, kept_responses.c.stored > int(now) - KEPT)
    row = connection.execute(query).first()
    if row is None:
        return None
    return KeptResponse(
        bytes(row.key), bytes(row.request), row.status, opened_body(connection, row.body), Instant(row.stored)
    )


def keep(database: Database, answer: KeptResponse, now: Instant) -> bool:
    with database.writing("responses") as connection:
        if one(connection, answer.key, now) is not None:
            return False
        old = select(kept_responses.c.key).where(kept_responses.c.stored <= int(now) - KEPT)
        some = old.order_by(kept_responses.c.stored).limit(_REMOVED_AT_ONCE).scalar_subquery()
        connection.execute(
            delete(kept_responses).where((kept_responses.c.key == answer.key) | kept_responses.c.key.in_(some))
        )
        values = {"key": answer.key, "request": answer.request, "status": answer.status}
        values["body"] = sealed_body(connection, answer.body)
        connection.execute(kept_responses.insert().values(values | {"stored": int(answer.stored)}))
        return True
