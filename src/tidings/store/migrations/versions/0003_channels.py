"""Channels, the parcels that are owed, their attempts, and the outbox that sends them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    channels()
    parcels()
    op.create_table(
        "attempts",
        sa.Column("parcel", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("attempt", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("started", _NUMBER, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("ok", sa.SmallInteger, nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("response", sa.Text, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
    )
    outbox = op.create_table(
        "outbox",
        sa.Column("one", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("cursor", _NUMBER, nullable=False),
        sa.Column("parcel", _NUMBER, nullable=False),
        sa.Column("notice", _NUMBER, nullable=False),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("until", _NUMBER, nullable=False),
    )
    op.bulk_insert(outbox, [{"one": 1, "cursor": 0, "parcel": 0, "notice": 0, "holder": "", "until": 0}])
    op.create_table(
        "notices",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("owner", _ID, nullable=False),
        sa.Column("subscription", _ID, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("stored", _NUMBER, nullable=False),
        sa.Column("seen", sa.SmallInteger, nullable=False),
    )
    op.create_index("notices_of_owner", "notices", ["owner", "number"])
    op.create_table(
        "deliveries",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("delivered", _NUMBER, nullable=False),
        sa.Column("dead", _NUMBER, nullable=False),
        sa.Column("attempts", _NUMBER, nullable=False),
        sa.Column("failures", _NUMBER, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
    )


def channels() -> None:
    op.create_table(
        "channels",
        sa.Column("subscription", _ID, primary_key=True),
        sa.Column("owner", _ID, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("secrets", sa.Text, nullable=False),
        sa.Column("since", _NUMBER, nullable=False),
        sa.Column("until", _NUMBER),
        sa.Column("sequence", _NUMBER, nullable=False),
        sa.Column("collecting", _NUMBER),
        sa.Column("released", sa.SmallInteger, nullable=False),
        sa.Column("recent", sa.Text, nullable=False),
        sa.Column("failing_since", _NUMBER),
        sa.Column("dead_in_a_row", sa.Integer, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("changed", _NUMBER, nullable=False),
    )
    partial_index("channels_to_release", "channels", ["subscription"], "released = 0")


def parcels() -> None:
    op.create_table(
        "parcels",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("subscription", _ID, nullable=False),
        sa.Column("owner", _ID, nullable=False),
        sa.Column("items", sa.Text, nullable=False),
        sa.Column("open", sa.SmallInteger, nullable=False),
        sa.Column("held", sa.SmallInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("tried", sa.Integer, nullable=False),
        sa.Column("due", _NUMBER, nullable=False),
        sa.Column("created", _NUMBER, nullable=False),
        sa.Column("done", _NUMBER),
        sa.Column("first_position", _NUMBER, nullable=False),
    )
    op.create_index("parcels_of_subscription", "parcels", ["subscription", "number"])
    partial_index("parcels_due", "parcels", ["held", "open", "due", "number"], "state = 'due'")
    partial_index("parcels_waiting", "parcels", ["subscription", "number"], "state = 'due'")
    partial_index("parcels_delivered", "parcels", ["done"], "state = 'delivered'")


def partial_index(name: str, table: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)
