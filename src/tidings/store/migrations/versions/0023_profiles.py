"""Application profiles: options that composites may inherit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "composite_profiles",
        sa.Column("name", _ID, primary_key=True),
        sa.Column("position", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("options", sa.Text, nullable=False),
    )
