"""Counters of subscriptions and dead letters, the keys of removed events by position, and indices without which some
looks would walk over a whole table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
# name, table, columns, condition
_INDICES = [
    ("journal_growth", "journal", ["position"], "kind = 'schema'"),
    ("spans_open", "spans", ["start"], "stop IS NULL"),
    ("spans_by_stop", "spans", ["stop", "start"], "stop IS NOT NULL"),
    ("channels_since", "channels", ["since"], None),
    (
        "channels_troubled",
        "channels",
        ["failing_since"],
        "(failing_since IS NOT NULL OR state = 'disabled' OR seconds >= 2.0)",
    ),
    ("deliveries_owed", "deliveries", ["first_position"], "state = 'due'"),
    ("deliveries_dead", "deliveries", ["subscription", "number"], "state = 'dead'"),
    ("notice_mails_due", "notice_mails", ["due"], None),
    ("notices_unread", "notices", ["owner", "number"], "seen = 0"),
]


def upgrade() -> None:
    for name in ("active", "paused", "letters", "trimmed"):
        op.add_column("about", sa.Column(name, _NUMBER, nullable=False, server_default="0"))
    op.execute(
        "UPDATE about SET active = (SELECT count(*) FROM subscriptions WHERE state = 'active'), "
        "paused = (SELECT count(*) FROM subscriptions WHERE state = 'paused'), "
        "letters = coalesce((SELECT max(number) FROM dead_letters), 0)"
    )
    op.create_table(
        "removed_keys",
        sa.Column("position", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("accepted", _NUMBER, nullable=False),
        sa.Column("key", sa.LargeBinary, nullable=False),
    )
    # When they were accepted is known no more. The newest entry's time is later, so none is forgotten too early.
    op.execute(
        "INSERT INTO removed_keys (position, accepted, key) SELECT event_keys.position, about.accepted, event_keys.key "
        "FROM event_keys, about WHERE event_keys.position < about.complete_from"
    )
    for name, table, columns, condition in _INDICES:
        where = None if condition is None else sa.text(condition)
        op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)
