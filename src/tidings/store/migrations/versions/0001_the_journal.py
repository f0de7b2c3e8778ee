"""The journal and all that is kept beside it."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    journal()
    projections()
    results()
    about = op.create_table(
        "about",
        sa.Column("one", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("journal_id", sa.Text, nullable=False),
        sa.Column("tail", _NUMBER, nullable=False),
        sa.Column("accepted", _NUMBER, nullable=False),
        sa.Column("events", _NUMBER, nullable=False),
        sa.Column("event_bytes", _NUMBER, nullable=False),
        sa.Column("complete_from", _NUMBER, nullable=False),
    )
    fresh = {"journal_id": str(uuid.uuid4()), "tail": 0, "accepted": 0, "complete_from": 1}
    op.bulk_insert(about, [{"one": 1, "events": 0, "event_bytes": 0} | fresh])


def journal() -> None:
    op.create_table(
        "journal",
        sa.Column("position", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("accepted", _NUMBER, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("schema_version", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    changes = sa.text("kind NOT IN ('event', 'tick')")
    op.create_index("journal_changes", "journal", ["position"], sqlite_where=changes, postgresql_where=changes)


def projections() -> None:
    op.create_table(
        "event_keys",
        sa.Column("key", sa.LargeBinary, primary_key=True),
        sa.Column("position", _NUMBER, nullable=False),
        sqlite_with_rowid=False,
    )
    catalog = op.create_table(
        "catalog",
        sa.Column("one", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.bulk_insert(catalog, [{"one": 1, "version": 1, "body": "{}"}])
    op.create_table(
        "subscriptions",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("owner", _ID, nullable=False),
        sa.Column("filter", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("expiry", _NUMBER),
        sa.Column("delivery", sa.Text, nullable=False),
        sa.Column("since", _NUMBER, nullable=False),
        sa.Column("span", _NUMBER),
    )
    op.create_index("subscriptions_of_owner", "subscriptions", ["owner", "id"])
    expires = sa.text("expiry IS NOT NULL")
    op.create_index(
        "subscriptions_by_expiry", "subscriptions", ["expiry"], sqlite_where=expires, postgresql_where=expires
    )
    op.create_table(
        "spans",
        sa.Column("start", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("stop", _NUMBER),
        sa.Column("subscription", _ID, nullable=False),
        sa.Column("filter", sa.Text, nullable=False),
    )


def results() -> None:
    op.create_table(
        "notifications",
        sa.Column("cursor", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("position", _NUMBER, nullable=False),
        sa.Column("subscription", _ID, nullable=False),
        sa.Column("stored", _NUMBER, nullable=False),
        sa.UniqueConstraint("position", "subscription", name="one_notification_a_match"),
    )
    pipeline = op.create_table(
        "pipeline",
        sa.Column("one", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("committed", _NUMBER, nullable=False),
        sa.Column("cursor", _NUMBER, nullable=False),
    )
    op.bulk_insert(pipeline, [{"one": 1, "committed": 0, "cursor": 0}])
    op.create_table(
        "dead_letters",
        sa.Column("number", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("key", sa.LargeBinary, nullable=False, unique=True),
        sa.Column("stored", _NUMBER, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
