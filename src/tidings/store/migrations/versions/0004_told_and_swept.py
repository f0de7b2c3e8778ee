"""Notices that are to be mailed to their owner; and an index by which all that is done is found when it is old."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "notice_mails",
        sa.Column("notice", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("due", _NUMBER, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
    )
    op.drop_index("parcels_delivered", "parcels")
    done = sa.text("done IS NOT NULL")
    op.create_index("parcels_done", "parcels", ["done"], sqlite_where=done, postgresql_where=done)
