"""Names and notes of subscriptions; a name's entry in the journal is none that the planner has to see."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    for name, kind in (("name", sa.Text()), ("note", sa.Text()), ("name_key", _ID)):
        op.add_column("subscriptions", sa.Column(name, kind, nullable=False, server_default=""))
    named = sa.text("name_key <> ''")
    columns = ["owner", "name_key", "id"]
    op.create_index("subscriptions_by_name", "subscriptions", columns, sqlite_where=named, postgresql_where=named)
    changes = sa.text("kind NOT IN ('event', 'tick', 'name')")
    op.drop_index("journal_changes", "journal")
    op.create_index("journal_changes", "journal", ["position"], sqlite_where=changes, postgresql_where=changes)
