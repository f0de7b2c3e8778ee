"""The tables, as the newest migration leaves them (a test compares both).

`journal` is the truth. `event_keys`, `catalog`, `subscriptions` and `spans` are projections of it and can be
rebuilt; `notifications` and `pipeline` are what the matching has made of it; `dead_letters` is what never got in.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)

NEWEST_REVISION = "0001"

# SQLite: only INTEGER can be the row's own number. PostgreSQL: ids are ordered by code point in every locale.
Number = BigInteger().with_variant(Integer, "sqlite")
Id = Text().with_variant(Text(collation="C"), "postgresql")

metadata = MetaData()

journal = Table(
    "journal",
    metadata,
    Column("position", Number, primary_key=True, autoincrement=False),
    Column("accepted", Number, nullable=False),
    Column("kind", Text, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("body", Text, nullable=False),
)

# What is neither an event nor a tick; the planner asks for the next of them all the time.
A_CHANGE = text("kind NOT IN ('event', 'tick')")
Index("journal_changes", journal.c.position, sqlite_where=A_CHANGE, postgresql_where=A_CHANGE)

event_keys = Table(
    "event_keys",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("position", Number, nullable=False),
    sqlite_with_rowid=False,
)

catalog = Table(
    "catalog",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
)

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("id", Id, primary_key=True),
    Column("owner", Id, nullable=False),
    Column("filter", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("expiry", Number),
    Column("delivery", Text, nullable=False),
    Column("since", Number, nullable=False),
    Column("span", Number),
)
Index("subscriptions_of_owner", subscriptions.c.owner, subscriptions.c.id)
_EXPIRES = text("expiry IS NOT NULL")
Index("subscriptions_by_expiry", subscriptions.c.expiry, sqlite_where=_EXPIRES, postgresql_where=_EXPIRES)

spans = Table(
    "spans",
    metadata,
    Column("start", Number, primary_key=True, autoincrement=False),
    Column("stop", Number),
    Column("subscription", Id, nullable=False),
    Column("filter", Text, nullable=False),
)

# No index by subscription: its pages would be written all over, which took the sink from 400,000 rows/s to 80,000 at
# five million notifications of a million subscriptions.
notifications = Table(
    "notifications",
    metadata,
    Column("cursor", Number, primary_key=True, autoincrement=False),
    Column("position", Number, nullable=False),
    Column("subscription", Id, nullable=False),
    Column("stored", Number, nullable=False),
    UniqueConstraint("position", "subscription", name="one_notification_a_match"),
)

pipeline = Table(
    "pipeline",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("committed", Number, nullable=False),
    Column("cursor", Number, nullable=False),
)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("stored", Number, nullable=False),
    Column("body", Text, nullable=False),
)

# One row. The tail is kept because the last events may have been removed; events and their bytes are those still
# there, since to count ten million takes seconds.
about = Table(
    "about",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("journal_id", Text, nullable=False),
    Column("tail", Number, nullable=False),
    Column("accepted", Number, nullable=False),
    Column("events", Number, nullable=False),
    Column("event_bytes", Number, nullable=False),
    Column("complete_from", Number, nullable=False),
)
