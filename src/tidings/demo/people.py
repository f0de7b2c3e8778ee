"""The accounts of the demo, made in the store before anybody is let in; a second start finds them.

Tokens are new at each start and known to the feeding process alone; those of the start before are taken back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from tidings.demo.wishes import ANN, DEMO
from tidings.service.door.callers import digest_of, new_token
from tidings.store import Store
from tidings.store.accounts.accounts import Account, Token
from tidings.store.clock.clock import now

PASSWORDS = {DEMO: "demo demo demo", ANN: "ann ann ann"}
PUBLISHER = "feeds"
_PUBLISHES = frozenset({"publish", "schema"})
_TOKEN = "the demo's own"


@dataclass(frozen=True, slots=True)
class People:
    """Tokens: of the publisher, and of those whose password is the demo's. `others` have the name but not that."""

    publisher: str = field(repr=False)
    tokens: dict[str, str] = field(repr=False)
    others: tuple[str, ...] = ()


def prepare(store: Store, scopes: frozenset[str]) -> People:
    """`scopes` are those of a new account. Raises StoreError."""
    hasher = PasswordHasher()
    tokens, others = {}, []
    for name, password in PASSWORDS.items():
        account = store.account(name)
        if account is None:
            account = Account(name, hasher.hash(password), scopes, now())
            store.add_account(account)
        if _has(hasher, account, password) and "subscribe" in account.scopes:
            tokens[name] = _token(store, account, frozenset({"subscribe"}))
        else:
            others.append(name)
    return People(_token(store, _publisher(store), _PUBLISHES), tokens, tuple(others))


def _publisher(store: Store) -> Account:
    """Nobody logs in with it. A name that somebody uses already is left to them."""
    for number in count(1):
        name = PUBLISHER if number == 1 else f"{PUBLISHER}-{number}"
        account = store.account(name)
        if account is None:
            account = Account(name, "", _PUBLISHES, now())
            store.add_account(account)
        if not account.password and account.scopes >= _PUBLISHES:
            return account
    raise AssertionError("numbers do not end")


def _has(hasher: PasswordHasher, account: Account, password: str) -> bool:
    try:
        return hasher.verify(account.password, password)
    except (Argon2Error, InvalidHashError):
        return False


def _token(store: Store, account: Account, scopes: frozenset[str]) -> str:
    for old in store.tokens_of(account.username):
        if old.name == _TOKEN:
            store.remove_token(old.digest, account.username)
    secret = new_token()
    store.add_token(Token(digest_of(secret), account.username, "token", _TOKEN, scopes, now(), None))
    return secret
