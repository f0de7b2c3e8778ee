"""What is owed to subscribers: channels, deliveries and their attempts, notices, the outbox."""

from __future__ import annotations

from sqlalchemy import Column, Double, Index, Integer, SmallInteger, Table, Text, literal_column, text

from tidings.store.tables.base import Id, Number, metadata, partial_index

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
partial_index("channels_to_release", channels.c.subscription, where=UNRELEASED)
Index("channels_since", channels.c.since)
Index("channels_of_owner", channels.c.owner)  # an account that is deleted takes its channels along
MAILED = text("kind = 'email' AND until IS NULL")
partial_index(
    "channels_mailed",
    channels.c.owner,
    channels.c.address,
    channels.c.state,
    channels.c.changed,
    where=MAILED,
)
# Those that an operator is shown: they fail, were disabled, or an attempt takes two seconds on average.
TROUBLED = text("(failing_since IS NOT NULL OR state = 'disabled' OR seconds >= 2.0)")
partial_index("channels_troubled", channels.c.failing_since, where=TROUBLED)

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
# Written out: neither database takes a partial index for a bound value.
IN_STATE = {state: deliveries.c.state == literal_column(f"'{state}'") for state in ("due", "delivered", "dead")}
_DUE = text("state = 'due'")
_DEAD = text("state = 'dead'")
_DONE = text("done IS NOT NULL")
Index("deliveries_of_subscription", deliveries.c.subscription, deliveries.c.number)
partial_index(
    "deliveries_due",
    deliveries.c.held,
    deliveries.c.open,
    deliveries.c.due,
    deliveries.c.number,
    where=_DUE,
)
partial_index("deliveries_waiting", deliveries.c.subscription, deliveries.c.number, where=_DUE)
partial_index("deliveries_done", deliveries.c.done, where=_DONE)  # delivered or dead
partial_index("deliveries_dead", deliveries.c.subscription, deliveries.c.number, where=_DEAD)
partial_index("deliveries_owed", deliveries.c.first_position, where=_DUE)

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

# One row: the cursor up to which notifications have become deliveries, and the last numbers given.
outbox = Table(
    "outbox",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("cursor", Number, nullable=False),
    Column("delivery", Number, nullable=False),
    Column("notice", Number, nullable=False),
)

# `cause` is why deliveries of the channel failed, '' in notices about something else; `failures` is how many did.
notices = Table(
    "notices",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("owner", Id, nullable=False),
    Column("subscription", Id, nullable=False),
    Column("text", Text, nullable=False),
    Column("stored", Number, nullable=False),
    Column("seen", SmallInteger, nullable=False),
    Column("cause", Text, nullable=False, server_default=""),
    Column("failures", Number, nullable=False, server_default="1"),
)
Index("notices_of_owner", notices.c.owner, notices.c.number)
UNREAD = text("seen = 0")
partial_index("notices_unread", notices.c.owner, notices.c.number, where=UNREAD)
UNREAD_FAILURE = text("seen = 0 AND cause <> ''")
partial_index(
    "notices_of_failures",
    notices.c.subscription,
    notices.c.owner,
    where=UNREAD_FAILURE,
)

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
