"""Which versions of Unicode and of the stemmer cut the journal's texts; and which subscription moved in where."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.add_column("about", sa.Column("text_versions", sa.Text(), nullable=False, server_default=""))
    op.create_index("moved_in_by_start", "network_moved_in", ["start"])
