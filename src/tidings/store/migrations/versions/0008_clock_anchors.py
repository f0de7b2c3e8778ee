"""What each host's clock said when it was last believed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "clock_anchors",
        sa.Column("boot", sa.Text, primary_key=True),
        sa.Column("elapsed", _NUMBER, nullable=False),
        sa.Column("time", _NUMBER, nullable=False),
    )
