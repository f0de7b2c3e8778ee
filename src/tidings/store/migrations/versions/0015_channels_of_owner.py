"""An index of channels by owner: deleting an account read all channels."""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_index("channels_of_owner", "channels", ["owner"])
