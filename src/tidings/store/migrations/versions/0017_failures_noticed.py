"""Notices of deliveries that failed: one for each channel and cause, which counts them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.add_column("notices", sa.Column("cause", sa.Text(), nullable=False, server_default=""))
    op.add_column("notices", sa.Column("failures", _NUMBER, nullable=False, server_default="1"))
    unread = sa.text("seen = 0 AND cause <> ''")
    columns = ["subscription", "owner"]
    op.create_index("notices_of_failures", "notices", columns, sqlite_where=unread, postgresql_where=unread)
