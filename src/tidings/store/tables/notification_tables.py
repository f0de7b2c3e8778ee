"""What matching has made of the journal: notifications, how far each query is, quotas and what they dropped; leases."""

from __future__ import annotations

from sqlalchemy import Column, Integer, LargeBinary, SmallInteger, Table, Text, UniqueConstraint, text

from tidings.store.tables.base import Id, Number, metadata, partial_index

# `detection` tells apart what one composite finds at one position; of a plain match it is ''. There is no index by
# subscription for what nobody owns: its pages would be written all over, which took the sink from 400,000 rows/s to
# 80,000 at five million notifications of a million subscriptions. For the same reason the matches of an event that has
# very many of them (`wide`) are in neither of the first two indices: see `packs`.
notifications = Table(
    "notifications",
    metadata,
    Column("cursor", Number, primary_key=True, autoincrement=False),
    Column("position", Number, nullable=False),
    Column("subscription", Id, nullable=False),
    Column("stored", Number, nullable=False),
    Column("owner", Id, nullable=False, server_default=""),
    Column("detection", Id, nullable=False, server_default=""),
    Column("wide", SmallInteger, nullable=False, server_default="0"),
    UniqueConstraint("position", "subscription", "detection", name="one_notification_a_detection"),
)
NARROW = text("owner <> '' AND wide = 0")
partial_index(
    "notifications_of_owner",
    notifications.c.owner,
    notifications.c.cursor,
    where=NARROW,
)
partial_index(
    "notifications_of_subscription",
    notifications.c.subscription,
    notifications.c.cursor,
    where=NARROW,
)
WIDE = text("wide = 1")
partial_index(
    "notifications_of_wide_events",
    notifications.c.position,
    notifications.c.owner,
    notifications.c.cursor,
    where=WIDE,
)

DETECTED = text("detection <> ''")
partial_index(
    "notifications_by_detection",
    notifications.c.detection,
    unique=True,
    where=DETECTED,
)

# Where the notifications of wide events are, by owner and subscription. New ones are looked up event by event:
# `unpacked` names their positions and cursors. Now and then all of these become a pack, which is written from one end
# to the other: for an owner ('' as the subscription) and for each subscription the cursors, in rows of some hundred, as
# differences from the pack's first. `last` is the last cursor of the row, or of the pack.
unpacked = Table(
    "unpacked",
    metadata,
    Column("first", Number, primary_key=True, autoincrement=False),
    Column("last", Number, nullable=False),
    Column("position", Number, nullable=False),
)
packs = Table(
    "packs",
    metadata,
    Column("first", Number, primary_key=True, autoincrement=False),
    Column("last", Number, nullable=False),
)
packed = Table(
    "packed",
    metadata,
    Column("pack", Number, primary_key=True, autoincrement=False),
    Column("owner", Id, primary_key=True),
    Column("subscription", Id, primary_key=True),
    Column("last", Number, primary_key=True, autoincrement=False),
    Column("cursors", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

# What a composite has found, by the cursor of its notification: the key, the time and the constituents, as JSON.
# `known` is the end of the batch that found it: only then does its age begin.
detections = Table(
    "detections",
    metadata,
    Column("cursor", Number, primary_key=True, autoincrement=False),
    Column("known", Number, nullable=False),
    Column("body", Text, nullable=False),
)

# What composites wait for: the state of one composite for one key (`composite.stored`), when time alone changes it, and
# when it is dropped without a look.
composite_states = Table(
    "composite_states",
    metadata,
    Column("key", Id, primary_key=True),
    Column("shard", SmallInteger, nullable=False),
    Column("due", Number),
    Column("body", Text, nullable=False),
    Column("forget", Number),
    sqlite_with_rowid=False,
)
_DUE = text("due IS NOT NULL")
partial_index(
    "composite_states_due",
    composite_states.c.shard,
    composite_states.c.due,
    where=_DUE,
)

_FORGET = text("forget IS NOT NULL")
partial_index("composite_states_forget", composite_states.c.forget, where=_FORGET)

# Matches of leaves that are not yet certain to be in order. `second` is the tenth of a second in which their events
# happened (once it was the whole second: a lower number, so what was stored then is read with the next batch);
# `position` is the end of the batch that found them.
early_matches = Table(
    "early_matches",
    metadata,
    Column("shard", SmallInteger, primary_key=True, autoincrement=False),
    Column("second", Number, primary_key=True, autoincrement=False),
    Column("position", Number, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
)

# Composites, by where they began to count, for which more instances waited than there is room: how many were dropped.
crowded = Table(
    "crowded",
    metadata,
    Column("span", Number, primary_key=True, autoincrement=False),
    Column("dropped", Number, nullable=False),
)

# Subscriptions, by where they began to count, whose expression ended in an error: on how many events, and the last one.
expression_errors = Table(
    "expression_errors",
    metadata,
    Column("span", Number, primary_key=True, autoincrement=False),
    Column("events", Number, nullable=False),
    Column("position", Number, nullable=False),
    Column("detail", Text, nullable=False),
)

# Events that came too late to take part in composites: by how many microseconds.
late_events = Table(
    "late_events",
    metadata,
    Column("position", Number, primary_key=True, autoincrement=False),
    Column("late_by", Number, nullable=False),
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
# `frontier` is the time up to which the composites' query knows everything.
progress = Table(
    "progress",
    metadata,
    Column("query", Id, primary_key=True),
    Column("committed", Number, nullable=False),
    Column("part", Id, nullable=False),
    Column("batch_limit", Number),
    Column("frontier", Number),
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

# Options that composites may inherit from a position on; '' where a profile was removed.
composite_profiles = Table(
    "composite_profiles",
    metadata,
    Column("name", Id, primary_key=True),
    Column("position", Number, primary_key=True, autoincrement=False),
    Column("options", Text, nullable=False),
)

# The matches of an account that a query found in the last minute (of acceptance time) in which it had some, and how
# many were ever dropped for its quota.
quota_counts = Table(
    "quota_counts",
    metadata,
    Column("account", Id, primary_key=True),
    Column("query", Id, primary_key=True),
    Column("minute", Number, nullable=False),
    Column("matches", Number, nullable=False),
    Column("dropped", Number, nullable=False),
)
DROPPED = text("dropped > 0")
partial_index("quota_counts_dropped", quota_counts.c.dropped, where=DROPPED)

# Who may work on the store: a row for `outbox`, one for `pipeline`. `until` is in the store's time.
leases = Table(
    "leases",
    metadata,
    Column("name", Id, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("until", Number, nullable=False),
)
