"""What composites have found, what they wait for, and events that came too late for them; quotas by query."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "detections",
        sa.Column("cursor", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("known", _NUMBER, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    _index("notifications_by_detection", "notifications", ["detection"], "detection <> ''", unique=True)
    op.create_table(
        "composite_states",
        sa.Column("key", _ID, primary_key=True),
        sa.Column("shard", sa.SmallInteger, nullable=False),
        sa.Column("due", _NUMBER),
        sa.Column("body", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    _index("composite_states_due", "composite_states", ["shard", "due"], "due IS NOT NULL")
    op.create_table(
        "early_matches",
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("second", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("position", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "late_events",
        sa.Column("position", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("late_by", _NUMBER, nullable=False),
    )
    _index("spans_of_composites", "spans", ["start"], "composite")
    _index("spans_of_composites_by_stop", "spans", ["stop"], "composite AND stop IS NOT NULL")
    op.add_column("progress", sa.Column("frontier", _NUMBER))
    op.add_column("about", sa.Column("late", _NUMBER, nullable=False, server_default="0"))
    _count_by_query()


def _count_by_query() -> None:
    """SQLite cannot change a primary key, so the table is made again."""
    op.create_table(
        "new_quota_counts",
        sa.Column("account", _ID, primary_key=True),
        sa.Column("query", _ID, primary_key=True),
        sa.Column("minute", _NUMBER, nullable=False),
        sa.Column("matches", _NUMBER, nullable=False),
        sa.Column("dropped", _NUMBER, nullable=False),
    )
    op.execute("INSERT INTO new_quota_counts SELECT account, 'matches', minute, matches, dropped FROM quota_counts")
    op.drop_table("quota_counts")
    op.rename_table("new_quota_counts", "quota_counts")
    _index("quota_counts_dropped", "quota_counts", ["dropped"], "dropped > 0")


def _index(name: str, table: str, columns: list[str], where: str, unique: bool = False) -> None:
    among = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=among, postgresql_where=among)
