"""When states of composites are dropped without a look, and how many instances found no room."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.add_column("composite_states", sa.Column("forget", _NUMBER))
    among = sa.text("forget IS NOT NULL")
    op.create_index(
        "composite_states_forget", "composite_states", ["forget"], sqlite_where=among, postgresql_where=among
    )
    op.add_column("about", sa.Column("crowded", _NUMBER, nullable=False, server_default="0"))
    op.create_table(
        "crowded",
        sa.Column("span", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("dropped", _NUMBER, nullable=False),
    )
