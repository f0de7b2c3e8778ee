"""Accounts can be disabled and deleted; all there are stay active."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("accounts", sa.Column("state", sa.Text, nullable=False, server_default="active"))
