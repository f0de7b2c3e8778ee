"""Copies of events by column, for queries; made as queries need them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "event_columns",
        sa.Column("stretch", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("name", _ID, primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
