"""Who owns spans and notifications; accounts, tokens and answers."""

from __future__ import annotations

import json
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_ENTRIES_AT_ONCE = 10_000
_CHANGES = "FROM journal{} WHERE kind NOT IN ('event', 'tick') AND position > :after AND "
_NAMES_AN_OWNER = "SELECT position " + _CHANGES + "kind = 'subscribe' AND body LIKE '%\"owner\"%' LIMIT 1"
_OPENING = (
    "SELECT position, kind, body " + _CHANGES + "kind IN ('subscribe', 'resume', 'edit') ORDER BY position LIMIT :many"
)


def upgrade() -> None:
    for table in ("spans", "notifications"):
        op.add_column(table, sa.Column("owner", _ID, nullable=False, server_default=""))
    index_of_owned("spans_of_subscription", "spans", ["subscription"])
    fill_owners()
    index_of_owned("notifications_of_owner", "notifications", ["owner", "cursor"])
    index_of_owned("notifications_of_subscription", "notifications", ["subscription", "cursor"])
    accounts()
    op.create_table(
        "answers",
        sa.Column("key", sa.LargeBinary, primary_key=True),
        sa.Column("request", sa.LargeBinary, nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("stored", _NUMBER, nullable=False),
    )
    op.create_index("answers_by_age", "answers", ["stored"])


def index_of_owned(name: str, table: str, columns: list[str]) -> None:
    owned = sa.text("owner <> ''")
    op.create_index(name, table, columns, sqlite_where=owned, postgresql_where=owned)


def accounts() -> None:
    op.create_table(
        "accounts",
        sa.Column("username", _ID, primary_key=True),
        sa.Column("password", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created", _NUMBER, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("digest", sa.LargeBinary, primary_key=True),
        sa.Column("username", _ID, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created", _NUMBER, nullable=False),
        sa.Column("expires", _NUMBER),
    )
    op.create_index("tokens_of_account", "tokens", ["username"])


def fill_owners() -> None:
    """The journal says who posted a subscription; its spans are theirs, and what was notified in those spans."""
    connection = op.get_bind()
    if connection.execute(_query(_NAMES_AN_OWNER), {"after": 0}).first() is None:
        return  # the journal alone: nothing is read one by one
    owners: dict[str, str] = {}
    for page in _pages(connection):
        owned = []
        for position, kind, body in page:
            members = json.loads(body)
            if kind == "subscribe":
                owners[members["id"]] = members.get("owner", "")
            if owner := owners.get(members["id"]):
                owned.append({"at": position, "owner": owner})
        if owned:
            connection.execute(sa.text("UPDATE spans SET owner = :owner WHERE start = :at"), owned)
    connection.execute(
        sa.text(
            "UPDATE notifications SET owner = coalesce((SELECT spans.owner FROM spans WHERE spans.owner <> '' "
            "AND spans.subscription = notifications.subscription AND spans.start <= notifications.position "
            "AND (spans.stop IS NULL OR spans.stop > notifications.position)), '') "
            "WHERE subscription IN (SELECT subscription FROM spans WHERE owner <> '')"
        )
    )


def _pages(connection: sa.Connection) -> Iterator[list[tuple[int, str, str]]]:
    after = 0
    while page := connection.execute(_query(_OPENING), {"after": after, "many": _ENTRIES_AT_ONCE}).all():
        yield [(position, kind, body) for position, kind, body in page]
        after = page[-1].position


def _query(text: str) -> sa.TextClause:
    """SQLite without statistics would rather walk over all events."""
    hint = " INDEXED BY journal_changes" if op.get_context().dialect.name == "sqlite" else ""
    return sa.text(text.format(hint))
