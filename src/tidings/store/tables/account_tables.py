"""The service's own: accounts, tokens, responses to requests that may be sent again."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, Table, Text

from tidings.store.tables.base import Id, Number, metadata

# `scopes` is a JSON array, sorted. `state` is active, disabled or deleted; a deleted one only keeps its name taken.
accounts = Table(
    "accounts",
    metadata,
    Column("username", Id, primary_key=True),
    Column("password", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created", Number, nullable=False),
    Column("state", Text, nullable=False, server_default="active"),
)
A_DISABLED_ACCOUNT = accounts.c.state == "disabled"

tokens = Table(
    "tokens",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("username", Id, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created", Number, nullable=False),
    Column("expires", Number),
)
Index("tokens_of_account", tokens.c.username)

kept_responses = Table(
    "kept_responses",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("request", LargeBinary, nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("stored", Number, nullable=False),
)
Index("kept_responses_by_age", kept_responses.c.stored)
