"""Leases of the outbox and the pipeline, and an index of the accounts beyond their quotas."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_DROPPED = sa.text("dropped > 0")


def upgrade() -> None:
    op.create_table(
        "leases",
        sa.Column("name", _ID, primary_key=True),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("until", _NUMBER, nullable=False),
    )
    op.execute("INSERT INTO leases (name, holder, until) SELECT 'outbox', holder, until FROM outbox")
    op.execute("INSERT INTO leases (name, holder, until) VALUES ('pipeline', '', 0)")
    with op.batch_alter_table("outbox") as table:
        table.drop_column("holder")
        table.drop_column("until")
    op.create_index(
        "quota_counts_dropped", "quota_counts", ["dropped"], sqlite_where=_DROPPED, postgresql_where=_DROPPED
    )
