"""Progress per query, notifications by detection, matches on their way to the store, quotas of matches."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    progress()
    key_by_detection()
    op.create_table(
        "staged",
        sa.Column("run", _ID, primary_key=True),
        sa.Column("chunk", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    if op.get_context().dialect.name == "postgresql":  # what a crash of the server takes away is matched again
        op.execute("ALTER TABLE staged SET UNLOGGED")
    op.create_table(
        "quotas",
        sa.Column("account", _ID, primary_key=True),
        sa.Column("position", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("matches", _NUMBER, nullable=False),
    )
    op.create_table(
        "quota_counts",
        sa.Column("account", _ID, primary_key=True),
        sa.Column("minute", _NUMBER, nullable=False),
        sa.Column("matches", _NUMBER, nullable=False),
        sa.Column("dropped", _NUMBER, nullable=False),
    )


def progress() -> None:
    """One row of `pipeline` becomes the progress of the query that there was, and the last cursor."""
    op.create_table(
        "notified",
        sa.Column("one", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("cursor", _NUMBER, nullable=False),
    )
    op.create_table(
        "progress",
        sa.Column("query", _ID, primary_key=True),
        sa.Column("committed", _NUMBER, nullable=False),
        sa.Column("part", _ID, nullable=False),
        sa.Column("batch_limit", _NUMBER),
    )
    op.execute("INSERT INTO notified (one, cursor) SELECT one, cursor FROM pipeline")
    op.execute("INSERT INTO progress (query, committed, part) SELECT 'matches', committed, '' FROM pipeline")
    op.drop_table("pipeline")


def key_by_detection() -> None:
    """SQLite cannot change a constraint, so the rows are copied there."""
    detection = sa.Column("detection", _ID, nullable=False, server_default="")
    key = ["position", "subscription", "detection"]
    with op.batch_alter_table("notifications") as table:
        table.add_column(detection)
        table.drop_constraint("one_notification_a_match", type_="unique")
        table.create_unique_constraint("one_notification_a_detection", key)
