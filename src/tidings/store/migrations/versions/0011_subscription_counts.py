"""How many subscriptions each owner has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "subscription_counts",
        sa.Column("owner", _ID, primary_key=True),
        sa.Column("subscriptions", _NUMBER, nullable=False),
    )
    op.execute(
        "INSERT INTO subscription_counts (owner, subscriptions) "
        "SELECT owner, count(*) FROM subscriptions WHERE owner <> '' GROUP BY owner"
    )
