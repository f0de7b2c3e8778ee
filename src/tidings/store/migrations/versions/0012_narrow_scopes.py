"""Reading stored events and managing the account need scopes of their own, which every token had without naming them.

An account keeps both. So do its sessions and the tokens that have all of its scopes. A token with fewer scopes was
made to do less: it keeps `read` where it may subscribe, and cannot manage the account any more.
"""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_ACCOUNTS = sa.table("accounts", sa.column("username", sa.Text), sa.column("scopes", sa.Text))
_TOKENS = sa.table(
    "tokens", sa.column("digest", sa.LargeBinary), sa.column("username", sa.Text), sa.column("scopes", sa.Text)
)
_NEW = {"read", "account"}


def upgrade() -> None:
    connection = op.get_bind()
    scopes = {row.username: set(json.loads(row.scopes)) for row in connection.execute(sa.select(_ACCOUNTS))}
    for row in connection.execute(sa.select(_TOKENS)).all():
        had = set(json.loads(row.scopes))
        gained = _NEW if had >= scopes.get(row.username, had) else {"read"} if "subscribe" in had else set()
        change = sa.update(_TOKENS).where(_TOKENS.c.digest == row.digest)
        connection.execute(change.values(scopes=_written(had | gained)))
    for username, had in scopes.items():
        change = sa.update(_ACCOUNTS).where(_ACCOUNTS.c.username == username)
        connection.execute(change.values(scopes=_written(had | _NEW)))


def _written(scopes: set[str]) -> str:
    return json.dumps(sorted(scopes), separators=(",", ":"))
