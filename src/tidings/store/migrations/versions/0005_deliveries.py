"""Parcels are called deliveries, the totals by kind of channel delivery totals, and answers kept responses."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_DUE = "state = 'due'"
# new name, old name, columns, condition
_INDICES = [
    ("deliveries_of_subscription", "parcels_of_subscription", ["subscription", "number"], None),
    ("deliveries_due", "parcels_due", ["held", "open", "due", "number"], _DUE),
    ("deliveries_waiting", "parcels_waiting", ["subscription", "number"], _DUE),
    ("deliveries_done", "parcels_done", ["done"], "done IS NOT NULL"),
]


def upgrade() -> None:
    rename_table("deliveries", "delivery_totals")
    rename_table("parcels", "deliveries")
    rename_table("answers", "kept_responses")
    op.alter_column("attempts", "parcel", new_column_name="delivery")
    op.alter_column("outbox", "parcel", new_column_name="delivery")
    for new, old, columns, condition in _INDICES:
        rename_index(new, old, "deliveries", columns, condition)
    rename_index("kept_responses_by_age", "answers_by_age", "kept_responses", ["stored"], None)


def rename_table(old: str, new: str) -> None:
    op.rename_table(old, new)
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"ALTER INDEX {old}_pkey RENAME TO {new}_pkey")


def rename_index(new: str, old: str, table: str, columns: list[str], condition: str | None) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"ALTER INDEX {old} RENAME TO {new}")
        return
    op.drop_index(old, table)  # SQLite cannot rename an index
    op.create_index(new, table, columns, sqlite_where=None if condition is None else sa.text(condition))
