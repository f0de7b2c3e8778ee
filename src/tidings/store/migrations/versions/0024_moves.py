"""Subscriptions move between servers; advertisements bind publishers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


_SET = (
    "UPDATE network_node SET distribution = COALESCE("
    "(SELECT body FROM network_orders WHERE kind = 'distribute' ORDER BY place DESC LIMIT 1), 'subscriptions')"
)


def upgrade() -> None:
    named = sa.Column("distribution", sa.Text(), nullable=False, server_default="subscriptions")
    op.add_column("network_node", named)
    op.add_column("network_node", sa.Column("advertised", _NUMBER, nullable=False, server_default="0"))
    op.execute(_SET)
    op.create_table(
        "network_tickets",
        sa.Column("digest", sa.LargeBinary(), primary_key=True),
        sa.Column("owner", _ID, nullable=False),
        sa.Column("expires", _NUMBER, nullable=False),
    )
    op.create_table(
        "network_departures",
        sa.Column("subscription", _ID, primary_key=True),
        sa.Column("owner", _ID, nullable=False),
        sa.Column("server", _ID, nullable=False),
        sa.Column("ticket", sa.Text(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False, server_default=""),
    )
    op.create_table(
        "network_moved_in",
        sa.Column("subscription", _ID, primary_key=True),
        sa.Column("server", _ID, primary_key=True),
        sa.Column("start", _NUMBER, nullable=False),
        sa.Column("opened", _NUMBER, nullable=False),
    )
