"""Which subscriptions are composites, and were in which span."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    for table in ("subscriptions", "spans"):
        op.add_column(table, sa.Column("composite", sa.Boolean, nullable=False, server_default=sa.false()))
