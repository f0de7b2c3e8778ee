"""How often expressions of other filter languages ended in an error."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "expression_errors",
        sa.Column("span", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("events", _NUMBER, nullable=False),
        sa.Column("position", _NUMBER, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )
