"""The tables, as the newest migration leaves them (a test compares both).

`journal` is the truth. `event_keys`, `catalog`, `subscriptions`, `spans` and `quotas` are projections of it and can be
rebuilt, all but the keys of events that were removed (`removed_keys`); `notifications`, `notified`, `progress` and
`quota_counts` are what the matching has made of it, `staged` is on its way there; `dead_letters` is what never got in.
`accounts`, `tokens` and `kept_responses` are the service's; `channels`, `deliveries`, `attempts`, `outbox`, `notices`
and `delivery_totals` are about what is owed to subscribers. These are no part of the journal.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
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

NEWEST_REVISION = "0011"

# SQLite: only INTEGER can be the row's own number. PostgreSQL: ids are ordered by code point in every locale.
Number = BigInteger().with_variant(Integer, "sqlite")
Id = Text().with_variant(Text(collation="C"), "postgresql")

metadata = MetaData()

# `watermark`, of an event: the latest occurrence time up to it, where an event without one counts by its acceptance.
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

# What is neither an event nor a tick; the planner asks for the next of them all the time.
A_CHANGE = text("kind NOT IN ('event', 'tick')")
Index("journal_changes", journal.c.position, sqlite_where=A_CHANGE, postgresql_where=A_CHANGE)
A_GROWTH = text("kind = 'schema'")
Index("journal_growth", journal.c.position, sqlite_where=A_GROWTH, postgresql_where=A_GROWTH)

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
Index("subscriptions_by_age", subscriptions.c.owner, subscriptions.c.since)
_EXPIRES = text("expiry IS NOT NULL")
Index("subscriptions_by_expiry", subscriptions.c.expiry, sqlite_where=_EXPIRES, postgresql_where=_EXPIRES)

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
)
# What belongs to somebody. Where nobody owns anything, as with a journal alone, indices of this cost nothing.
OWNED = text("owner <> ''")
Index("spans_of_subscription", spans.c.subscription, spans.c.start, sqlite_where=OWNED, postgresql_where=OWNED)
OPEN = text("stop IS NULL")
CLOSED = text("stop IS NOT NULL")
Index("spans_open", spans.c.start, sqlite_where=OPEN, postgresql_where=OPEN)
Index("spans_by_stop", spans.c.stop, spans.c.start, sqlite_where=CLOSED, postgresql_where=CLOSED)

# `detection` tells apart what one composite finds at one position; of a plain match it is ''. There is no index by
# subscription for what nobody owns: its pages would be written all over, which took the sink from 400,000 rows/s to
# 80,000 at five million notifications of a million subscriptions.
notifications = Table(
    "notifications",
    metadata,
    Column("cursor", Number, primary_key=True, autoincrement=False),
    Column("position", Number, nullable=False),
    Column("subscription", Id, nullable=False),
    Column("stored", Number, nullable=False),
    Column("owner", Id, nullable=False, server_default=""),
    Column("detection", Id, nullable=False, server_default=""),
    UniqueConstraint("position", "subscription", "detection", name="one_notification_a_detection"),
)
Index(
    "notifications_of_owner",
    notifications.c.owner,
    notifications.c.cursor,
    sqlite_where=OWNED,
    postgresql_where=OWNED,
)
Index(
    "notifications_of_subscription",
    notifications.c.subscription,
    notifications.c.cursor,
    sqlite_where=OWNED,
    postgresql_where=OWNED,
)

# The last cursor of a notification, in one row: all queries share the cursors.
notified = Table(
    "notified",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("cursor", Number, nullable=False),
)

# How far each query is: everything up to `committed` is stored, and of the position after it what comes up to the
# subscription `part`. `batch_limit` is how many positions the next batch may have, by what recent ones took.
progress = Table(
    "progress",
    metadata,
    Column("query", Id, primary_key=True),
    Column("committed", Number, nullable=False),
    Column("part", Id, nullable=False),
    Column("batch_limit", Number),
)

# Matches of a batch on their way from Spark's workers to the driver, where they share no folder: chunks of Arrow.
staged = Table(
    "staged",
    metadata,
    Column("run", Id, primary_key=True),
    Column("chunk", Integer, primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
)

# Matches that an account may have per minute from a position on, 0: any number; the account '' stands for all others.
quotas = Table(
    "quotas",
    metadata,
    Column("account", Id, primary_key=True),
    Column("position", Number, primary_key=True, autoincrement=False),
    Column("matches", Number, nullable=False),
)

# The matches of an account in the last minute (of acceptance time) in which it had some, and how many were ever
# dropped for its quota.
quota_counts = Table(
    "quota_counts",
    metadata,
    Column("account", Id, primary_key=True),
    Column("minute", Number, nullable=False),
    Column("matches", Number, nullable=False),
    Column("dropped", Number, nullable=False),
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
# when the journal goes on from an older copy.
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
)

# For each boot of each host, a time of day that was believed and the microseconds since boot that belong to it.
clock_anchors = Table(
    "clock_anchors",
    metadata,
    Column("boot", Text, primary_key=True),
    Column("elapsed", Number, nullable=False),
    Column("time", Number, nullable=False),
)

# `scopes` is a JSON array, sorted.
accounts = Table(
    "accounts",
    metadata,
    Column("username", Id, primary_key=True),
    Column("password", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created", Number, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("username", Id, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created", Number, nullable=False),
    Column("expires", Number),
)
Index("tokens_of_account", tokens.c.username)

kept_responses = Table(
    "kept_responses",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("request", LargeBinary, nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("stored", Number, nullable=False),
)
Index("kept_responses_by_age", kept_responses.c.stored)

# How a subscription's owner is told. The owner is in the key: a withdrawn id may be used again by somebody else, and
# what is still owed to the one must never go to the other. `settings`, `secrets` and `recent` are JSON; `since` and
# `until` are the cursors between which it is owed; `collecting` is the digest that is open; `released` is 0 while
# the channel is active and deliveries that were held wait for the outbox to let them go; `address` is that of an email
# channel.
channels = Table(
    "channels",
    metadata,
    Column("subscription", Id, primary_key=True),
    Column("owner", Id, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("secrets", Text, nullable=False),
    Column("since", Number, nullable=False),
    Column("until", Number),
    Column("sequence", Number, nullable=False),
    Column("collecting", Number),
    Column("released", SmallInteger, nullable=False),
    Column("recent", Text, nullable=False),
    Column("failing_since", Number),
    Column("dead_in_a_row", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("problem", Text, nullable=False),
    Column("changed", Number, nullable=False),
    Column("address", Id, nullable=False, server_default=""),
)
UNRELEASED = text("released = 0")
Index("channels_to_release", channels.c.subscription, sqlite_where=UNRELEASED, postgresql_where=UNRELEASED)
Index("channels_since", channels.c.since)
MAILED = text("kind = 'email' AND until IS NULL")
Index(
    "channels_mailed",
    channels.c.owner,
    channels.c.address,
    channels.c.state,
    channels.c.changed,
    sqlite_where=MAILED,
    postgresql_where=MAILED,
)
# Those that an operator is shown: they fail, were disabled, or an attempt takes two seconds on average.
TROUBLED = text("(failing_since IS NOT NULL OR state = 'disabled' OR seconds >= 2.0)")
Index("channels_troubled", channels.c.failing_since, sqlite_where=TROUBLED, postgresql_where=TROUBLED)

# `attempts` counts from the last replay on, `tried` all of them. `held`: not to be sent until its channel is active
# and the outbox has let it go; `open`: a digest that still collects.
deliveries = Table(
    "deliveries",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("subscription", Id, nullable=False),
    Column("owner", Id, nullable=False),
    Column("items", Text, nullable=False),
    Column("open", SmallInteger, nullable=False),
    Column("held", SmallInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("tried", Integer, nullable=False),
    Column("due", Number, nullable=False),
    Column("created", Number, nullable=False),
    Column("done", Number),
    Column("first_position", Number, nullable=False),
)
_DUE = text("state = 'due'")
_DEAD = text("state = 'dead'")
_DONE = text("done IS NOT NULL")
Index("deliveries_of_subscription", deliveries.c.subscription, deliveries.c.number)
Index(
    "deliveries_due",
    deliveries.c.held,
    deliveries.c.open,
    deliveries.c.due,
    deliveries.c.number,
    sqlite_where=_DUE,
    postgresql_where=_DUE,
)
Index("deliveries_waiting", deliveries.c.subscription, deliveries.c.number, sqlite_where=_DUE, postgresql_where=_DUE)
Index("deliveries_done", deliveries.c.done, sqlite_where=_DONE, postgresql_where=_DONE)  # delivered or dead
Index("deliveries_dead", deliveries.c.subscription, deliveries.c.number, sqlite_where=_DEAD, postgresql_where=_DEAD)
Index("deliveries_owed", deliveries.c.first_position, sqlite_where=_DUE, postgresql_where=_DUE)

attempts = Table(
    "attempts",
    metadata,
    Column("delivery", Number, primary_key=True, autoincrement=False),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("started", Number, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("ok", SmallInteger, nullable=False),
    Column("status", Integer),
    Column("request", Text, nullable=False),
    Column("response", Text, nullable=False),
    Column("problem", Text, nullable=False),
)

# One row: the cursor up to which notifications have become deliveries, the last numbers given, and who may send now.
outbox = Table(
    "outbox",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("cursor", Number, nullable=False),
    Column("delivery", Number, nullable=False),
    Column("notice", Number, nullable=False),
    Column("holder", Text, nullable=False),
    Column("until", Number, nullable=False),
)

notices = Table(
    "notices",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("owner", Id, nullable=False),
    Column("subscription", Id, nullable=False),
    Column("text", Text, nullable=False),
    Column("stored", Number, nullable=False),
    Column("seen", SmallInteger, nullable=False),
)
Index("notices_of_owner", notices.c.owner, notices.c.number)
UNREAD = text("seen = 0")
Index("notices_unread", notices.c.owner, notices.c.number, sqlite_where=UNREAD, postgresql_where=UNREAD)

# Notices of which their owner is to be told by mail; `attempts` were made in vain. A row goes when one arrived.
notice_mails = Table(
    "notice_mails",
    metadata,
    Column("notice", Number, primary_key=True, autoincrement=False),
    Column("due", Number, nullable=False),
    Column("attempts", Integer, nullable=False),
)
Index("notice_mails_due", notice_mails.c.due)

# Totals by kind of channel: `due` now, the others ever. Deliveries are removed after a month, their count stays.
delivery_totals = Table(
    "delivery_totals",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("delivered", Number, nullable=False),
    Column("dead", Number, nullable=False),
    Column("attempts", Number, nullable=False),
    Column("failures", Number, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("due", Number, nullable=False, server_default="0"),
)
