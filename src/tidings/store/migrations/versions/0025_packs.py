"""Notifications of events that match very many subscriptions leave the two indices by owner and subscription."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """What is stored stays in the indices, which are made again without what is wide."""
    op.add_column("notifications", sa.Column("wide", sa.SmallInteger, nullable=False, server_default="0"))
    for name, column in (("notifications_of_owner", "owner"), ("notifications_of_subscription", "subscription")):
        op.drop_index(name, "notifications")
        _index(name, [column, "cursor"], "owner <> '' AND wide = 0")
    _index("notifications_of_wide_events", ["position", "owner", "cursor"], "wide = 1")
    op.create_table(
        "unpacked",
        sa.Column("first", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("last", _NUMBER, nullable=False),
        sa.Column("position", _NUMBER, nullable=False),
    )
    op.create_table(
        "packs",
        sa.Column("first", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("last", _NUMBER, nullable=False),
    )
    op.create_table(
        "packed",
        sa.Column("pack", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("owner", _ID, primary_key=True),
        sa.Column("subscription", _ID, primary_key=True),
        sa.Column("last", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("cursors", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )


def _index(name: str, columns: list[str], where: str) -> None:
    among = sa.text(where)
    op.create_index(name, "notifications", columns, sqlite_where=among, postgresql_where=among)
