"""Due deliveries are counted by kind of channel, email channels say their address, and further indices."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_WAITING = (
    "SELECT count(*) FROM deliveries d JOIN channels c ON c.subscription = d.subscription AND c.owner = d.owner "
    "WHERE d.state = 'due' AND c.kind = {}"
)
# name, table, columns, condition
_INDICES = [
    ("spans_of_subscription", "spans", ["subscription", "start"], "owner <> ''"),
    ("subscriptions_by_age", "subscriptions", ["owner", "since"], None),
    ("channels_mailed", "channels", ["owner", "address", "state", "changed"], "kind = 'email' AND until IS NULL"),
]


def upgrade() -> None:
    op.add_column("delivery_totals", sa.Column("due", _NUMBER, nullable=False, server_default="0"))
    op.execute(
        "INSERT INTO delivery_totals (kind, delivered, dead, attempts, failures, seconds) "
        "SELECT DISTINCT kind, 0, 0, 0, 0, 0.0 FROM channels WHERE kind NOT IN (SELECT kind FROM delivery_totals)"
    )
    op.execute(f"UPDATE delivery_totals SET due = ({_WAITING.format('delivery_totals.kind')})")
    op.add_column("channels", sa.Column("address", _ID, nullable=False, server_default=""))
    fill_addresses()
    op.drop_index("spans_of_subscription", "spans")
    for name, table, columns, condition in _INDICES:
        where = None if condition is None else sa.text(condition)
        op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def fill_addresses() -> None:
    connection = op.get_bind()
    mailed = connection.execute(
        sa.text("SELECT subscription, owner, settings FROM channels WHERE kind = 'email'")
    ).all()
    values = [
        {"id": row.subscription, "who": row.owner, "address": str(json.loads(row.settings).get("address") or "")}
        for row in mailed
    ]
    if values:
        known = "WHERE subscription = :id AND owner = :who"
        connection.execute(sa.text(f"UPDATE channels SET address = :address {known}"), values)
