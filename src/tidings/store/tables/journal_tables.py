"""The journal and its projections, which can be rebuilt, all but the keys of events that were removed."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, LargeBinary, SmallInteger, Table, Text, false, text

from tidings.store.tables.base import Id, Number, metadata, partial_index

# `watermark`, of an event or tick: the latest occurrence time up to it, where a tick or an event without one counts by
# its acceptance.
journal = Table(
    "journal",
    metadata,
    Column("position", Number, primary_key=True, autoincrement=False),
    Column("accepted", Number, nullable=False),
    Column("kind", Text, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("watermark", Number),
)

# What can change matching; the planner asks for the next of them all the time.
A_CHANGE = text("kind NOT IN ('event', 'tick', 'name')")
partial_index("journal_changes", journal.c.position, where=A_CHANGE)
A_GROWTH = text("kind = 'schema'")
partial_index("journal_growth", journal.c.position, where=A_GROWTH)

event_keys = Table(
    "event_keys",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("position", Number, nullable=False),
    sqlite_with_rowid=False,
)

# The keys of events that were removed, by position: an index of `event_keys` by position would cost every publisher.
removed_keys = Table(
    "removed_keys",
    metadata,
    Column("position", Number, primary_key=True, autoincrement=False),
    Column("accepted", Number, nullable=False),
    Column("key", LargeBinary, nullable=False),
)

# The events of whole stretches of positions by column (`events.column_copy`): queries read only those that they test.
# The column '' has the positions and times of acceptance; a stretch without it was not copied.
event_columns = Table(
    "event_columns",
    metadata,
    Column("stretch", Number, primary_key=True, autoincrement=False),
    Column("name", Id, primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

catalog = Table(
    "catalog",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
)

# `filter` of a composite is its text, here and in spans. `name_key` is the name without regard to case, to sort and
# search by: SQLite knows only the cases of ASCII.
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
    Column("name", Text, nullable=False, server_default=""),
    Column("note", Text, nullable=False, server_default=""),
    Column("name_key", Id, nullable=False, server_default=""),
    Column("composite", Boolean, nullable=False, server_default=false()),
)
Index("subscriptions_of_owner", subscriptions.c.owner, subscriptions.c.id)
Index("subscriptions_by_age", subscriptions.c.owner, subscriptions.c.since)
_EXPIRES = text("expiry IS NOT NULL")
partial_index("subscriptions_by_expiry", subscriptions.c.expiry, subscriptions.c.id, where=_EXPIRES)
NAMED = text("name_key <> ''")
partial_index(
    "subscriptions_by_name",
    subscriptions.c.owner,
    subscriptions.c.name_key,
    subscriptions.c.id,
    where=NAMED,
)

# How many each owner has, so that whoever posts one need not count up to 100,000; nobody's are not counted.
subscription_counts = Table(
    "subscription_counts",
    metadata,
    Column("owner", Id, primary_key=True),
    Column("subscriptions", Number, nullable=False),
)

spans = Table(
    "spans",
    metadata,
    Column("start", Number, primary_key=True, autoincrement=False),
    Column("stop", Number),
    Column("subscription", Id, nullable=False),
    Column("filter", Text, nullable=False),
    Column("owner", Id, nullable=False, server_default=""),
    Column("composite", Boolean, nullable=False, server_default=false()),
)
# What belongs to somebody. Where nobody owns anything, as with a journal alone, indices of this cost nothing.
OWNED = text("owner <> ''")
partial_index("spans_of_subscription", spans.c.subscription, spans.c.start, where=OWNED)
OPEN = text("stop IS NULL")
CLOSED = text("stop IS NOT NULL")
partial_index("spans_open", spans.c.start, where=OPEN)
partial_index("spans_by_stop", spans.c.stop, spans.c.start, where=CLOSED)
A_COMPOSITE = text("composite")
A_CLOSED_COMPOSITE = text("composite AND stop IS NOT NULL")
partial_index("spans_of_composites", spans.c.start, where=A_COMPOSITE)
partial_index(
    "spans_of_composites_by_stop",
    spans.c.stop,
    where=A_CLOSED_COMPOSITE,
)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("stored", Number, nullable=False),
    Column("body", Text, nullable=False),
)

# One row. The tail is kept because the last events may have been removed. `events` and `event_bytes` count the events
# still there, `active` and `paused` the subscriptions: counting ten million rows takes seconds. `letters` is the last
# number given to a dead letter, `trimmed` the position up to which retention has left no event. The incarnation changes
# when the journal goes on from an older copy. `late` counts the events that came too late for composites,
# `crowded` their instances that were dropped because too many waited. `text_versions` are those that cut and stem its
# texts.
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
    Column("active", Number, nullable=False, server_default="0"),
    Column("paused", Number, nullable=False, server_default="0"),
    Column("letters", Number, nullable=False, server_default="0"),
    Column("trimmed", Number, nullable=False, server_default="0"),
    Column("watermark", Number),
    Column("incarnation", Text, nullable=False, server_default=""),
    Column("late", Number, nullable=False, server_default="0"),
    Column("crowded", Number, nullable=False, server_default="0"),
    Column("text_versions", Text, nullable=False, server_default=""),
)

# For each boot of each host, a time of day that was believed and the microseconds since boot that belong to it; `jump`:
# by how much the clock is wrong, as that host sees it.
clock_anchors = Table(
    "clock_anchors",
    metadata,
    Column("boot", Text, primary_key=True),
    Column("elapsed", Number, nullable=False),
    Column("time", Number, nullable=False),
    Column("jump", Number, nullable=False, server_default="0"),
)
