"""Accounts and their tokens: who may use the service, and with which scopes.

The service hashes passwords and makes tokens; here is only what must be kept of them. The store compares names
exactly as they are given.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, delete, func, select, update

from tidings.schema import Instant
from tidings.store.databases.database import Database
from tidings.store.errors import AccountExists, LastOperator, UnfitAccount
from tidings.store.journal.fitness import LONGEST_ID, is_id
from tidings.store.tables import accounts, subscription_counts, tokens

SCOPES = frozenset({"publish", "subscribe", "read", "account", "schema", "operate"})
OPERATOR = "operator"
TokenKind = Literal["token", "session"]
AccountState = Literal["active", "disabled"]
ACTIVE, DISABLED, DELETED = "active", "disabled", "deleted"


@dataclass(frozen=True, slots=True)
class Account:
    """`password` is its hash, '' where nobody can log in with one. The username owns subscriptions. Whoever has a
    disabled account cannot log in."""

    username: str
    password: str = field(repr=False)
    scopes: frozenset[str]
    created: Instant
    state: AccountState = "active"


@dataclass(frozen=True, slots=True)
class ListedAccount:
    """With how many subscriptions it has, and how many tokens and sessions that have not expired."""

    account: Account
    subscriptions: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Token:
    """What a request shows instead of a password; only its digest is kept. `kind` tells log-ins from made ones."""

    digest: bytes = field(repr=False)
    username: str
    kind: TokenKind
    name: str
    scopes: frozenset[str]
    created: Instant
    expires: Instant | None


def add_account(database: Database, new: Account) -> None:
    if not is_id(new.username):
        raise UnfitAccount(new.username, f"text of 1 to {LONGEST_ID} printable characters")
    with database.writing("accounts") as connection:
        _insert_account(connection, new)


def account(connection: Connection, username: str) -> Account | None:
    """None for a deleted one."""
    row = connection.execute(select(accounts).where(accounts.c.username == username)).first()
    return None if row is None or row.state == DELETED else _account(row)


def listed(connection: Connection, after: str, limit: int, now: Instant) -> list[ListedAccount]:
    own = tokens.c.username == accounts.c.username
    valid = select(func.count()).select_from(tokens).where(own, tokens.c.expires.is_(None) | (tokens.c.expires > now))
    counted = select(subscription_counts.c.subscriptions).where(subscription_counts.c.owner == accounts.c.username)
    query = select(
        accounts, valid.scalar_subquery().label("tokens"), counted.scalar_subquery().label("subscriptions")
    ).where(accounts.c.username > after, accounts.c.state != DELETED)
    rows = connection.execute(query.order_by(accounts.c.username).limit(limit))
    return [ListedAccount(_account(row), row.subscriptions or 0, row.tokens) for row in rows]


def closed_among(connection: Connection, usernames: Collection[str]) -> frozenset[str]:
    """Those whose account is disabled or deleted; names without an account are not."""
    if not usernames:
        return frozenset()
    query = select(accounts.c.username).where(accounts.c.username.in_(usernames), accounts.c.state != ACTIVE)
    return frozenset(connection.execute(query).scalars())


def change_account(
    database: Database,
    username: str,
    password: str | None,
    scopes: frozenset[str] | None,
    proved: Account | None,
    keep: bytes | None,
) -> bool:
    """Account and tokens together, so that no old token outlives what took its right away."""
    with database.writing("accounts") as connection:
        found = account(connection, username)
        if found is None or proved not in (None, found):
            return False
        values = {} if password is None else {"password": password}
        if scopes is not None:
            if "operate" in found.scopes - scopes:
                keep_an_operator(connection, username)
            values["scopes"] = _write_scopes(scopes)
            rows = connection.execute(select(tokens).where(tokens.c.username == username))
            exceeding = [row.digest for row in rows if not _read_scopes(row.scopes) <= scopes]
            connection.execute(delete(tokens).where(tokens.c.digest.in_(exceeding)))
        if values:
            connection.execute(update(accounts).where(accounts.c.username == username).values(values))
        if keep is not None:
            connection.execute(delete(tokens).where(tokens.c.username == username, tokens.c.digest != keep))
        return True


def add_operator(database: Database, digest: bytes, now: Instant) -> bool:
    """Looked and made under one lock: of two services that start at once, one makes it."""
    with database.writing("accounts") as connection:
        if _operates(connection):
            return False
        if not _is_taken(connection, OPERATOR):
            _insert_account(connection, Account(OPERATOR, "", SCOPES, now))
        else:  # it lost the scope: without this nobody could ever operate here again
            restored = update(accounts).where(accounts.c.username == OPERATOR)
            connection.execute(restored.values(scopes=_write_scopes(SCOPES), state=ACTIVE))
        _insert_token(connection, Token(digest, OPERATOR, "token", OPERATOR, SCOPES, now, None))
        return True


def add_token(database: Database, new: Token, now: Instant, proved: Account | None, most: int | None) -> bool:
    with database.writing("accounts") as connection:
        if proved is not None and account(connection, new.username) != proved:
            return False
        own = tokens.c.username == new.username
        connection.execute(delete(tokens).where(own, tokens.c.expires <= int(now)))
        if most is not None:
            count = connection.execute(select(func.count()).select_from(tokens).where(own)).scalar_one()
            order = (tokens.c.kind != "token", tokens.c.created, tokens.c.digest)
            oldest = select(tokens.c.digest).where(own).order_by(*order).limit(max(0, count - most + 1))
            connection.execute(delete(tokens).where(tokens.c.digest.in_(oldest.scalar_subquery())))
        _insert_token(connection, new)
        return True


def token(connection: Connection, digest: bytes, now: Instant) -> Token | None:
    """One read by the table's key."""
    row = connection.execute(select(tokens).where(tokens.c.digest == digest)).first()
    return None if row is None or _has_expired(row, now) else _token(row)


def tokens_of(connection: Connection, username: str, now: Instant) -> list[Token]:
    query = select(tokens).where(tokens.c.username == username).order_by(tokens.c.created, tokens.c.digest)
    return [_token(row) for row in connection.execute(query) if not _has_expired(row, now)]


def remove_token(database: Database, digest: bytes, username: str | None) -> bool:
    statement = delete(tokens).where(tokens.c.digest == digest)
    if username is not None:
        statement = statement.where(tokens.c.username == username)
    with database.writing("accounts") as connection:
        return connection.execute(statement).rowcount > 0


def remove_tokens_of(database: Database, username: str, kind: TokenKind | None) -> int:
    statement = delete(tokens).where(tokens.c.username == username)
    if kind is not None:
        statement = statement.where(tokens.c.kind == kind)
    with database.writing("accounts") as connection:
        return connection.execute(statement).rowcount


def keep_an_operator(connection: Connection, username: str) -> None:
    """Raises LastOperator where no other account may operate."""
    found = account(connection, username)
    if found is not None and "operate" in found.scopes and not _operates(connection, but=username):
        raise LastOperator(username)


def _operates(connection: Connection, but: str = "") -> bool:
    """Whether an account may operate, beside this one."""
    operating = accounts.c.scopes.contains('"operate"', autoescape=True)
    query = select(accounts.c.username).where(operating, accounts.c.username != but, accounts.c.state == ACTIVE)
    return connection.execute(query.limit(1)).first() is not None


def _is_taken(connection: Connection, username: str) -> bool:
    return connection.execute(select(accounts.c.username).where(accounts.c.username == username)).first() is not None


def _insert_token(connection: Connection, new: Token) -> None:
    expires = None if new.expires is None else int(new.expires)
    row = (new.digest, new.username, new.kind, new.name, _write_scopes(new.scopes), int(new.created), expires)
    connection.execute(tokens.insert().values(row))


def _write_scopes(scopes: frozenset[str]) -> str:
    return msgspec.json.encode(sorted(scopes)).decode()


def _read_scopes(text: str) -> frozenset[str]:
    return frozenset(msgspec.json.decode(text, type=list[str]))


def _insert_account(connection: Connection, new: Account) -> None:
    if _is_taken(connection, new.username):  # nobody else writes accounts meanwhile
        raise AccountExists(new.username)
    row = (new.username, new.password, _write_scopes(new.scopes), int(new.created), new.state)
    connection.execute(accounts.insert().values(row))


def _account(row: Any) -> Account:
    return Account(row.username, row.password, _read_scopes(row.scopes), Instant(row.created), row.state)


def _has_expired(row: Any, now: Instant) -> bool:
    return row.expires is not None and row.expires <= now


def _token(row: Any) -> Token:
    expires = None if row.expires is None else Instant(row.expires)
    scopes = _read_scopes(row.scopes)
    return Token(bytes(row.digest), row.username, row.kind, row.name, scopes, Instant(row.created), expires)
