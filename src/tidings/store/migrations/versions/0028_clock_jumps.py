"""Whether a host sees that the clock has jumped; and which subscriptions are due next, in the order of their ids."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.add_column("clock_anchors", sa.Column("jump", _NUMBER, nullable=False, server_default="0"))
    op.drop_index("subscriptions_by_expiry", "subscriptions")
    expires = sa.text("expiry IS NOT NULL")
    op.create_index(
        "subscriptions_by_expiry", "subscriptions", ["expiry", "id"], sqlite_where=expires, postgresql_where=expires
    )
