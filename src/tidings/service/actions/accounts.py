"""Accounts: registering, logging in, changing a password, with guesses made slow and answers that betray nothing.

A name that nobody has and a password that is wrong get the same answer after the same work. Passwords are hashed by
argon2id in two threads, which use 64 MiB each; whoever comes while too many wait is sent away.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from tidings.errors import ServiceError, TidingsError, shown
from tidings.schema import Instant
from tidings.service.callers import Caller, OutOfScope, digest_of, new_token
from tidings.service.gateway import Gateway
from tidings.service.throttling import Throttle
from tidings.settings import SCOPES
from tidings.store.accounts import OPERATOR, Account, Token
from tidings.store.errors import AccountExists

T = TypeVar("T")
USERNAME = r"^[a-z0-9][a-z0-9_.-]{2,63}$"
SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 1_000
MOST_TOKENS = 1_000  # of one account; beyond, its oldest makes room
_HASHING = 2  # at once
_MOST_WAITING = 50
_ID = 12  # hexadecimal digits of a token's digest that name it


class IllegalUsername(ServiceError):
    def __init__(self, username: str) -> None:
        super().__init__(username)

    def __str__(self) -> str:
        return (
            f"{shown(self.args[0])} cannot be a username: it has 3 to 64 lower-case letters (a-z), digits, '_', '.' "
            "or '-', and begins with a letter or a digit"
        )


class IllegalPassword(ServiceError):
    def __str__(self) -> str:
        return f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD:,} characters, of which none is zero"


class RegistrationClosed(ServiceError):
    status = 403

    def __str__(self) -> str:
        return "nobody can register here; ask whoever runs the service for an account"


class WrongPassword(ServiceError):
    """Or there is no such account: which of them, nobody is told."""

    status = 401

    def __str__(self) -> str:
        return "there is no account with this name and this password"


class NoSuchAccount(ServiceError):
    status = 404

    def __init__(self, username: str) -> None:
        super().__init__(username)

    def __str__(self) -> str:
        return f"no account {shown(self.args[0])}"


class NoSuchToken(ServiceError):
    status = 404

    def __init__(self, id: str) -> None:
        super().__init__(id)

    def __str__(self) -> str:
        return f"you have no token {shown(self.args[0])}; GET /tokens lists yours"


class TooManyLogins(ServiceError):
    status = 503

    def __str__(self) -> str:
        return "too many others are logging in just now; try again in a second"


class Accounts:
    """Of one event loop; `close` it there. `clock` counts seconds for the throttles; `hasher` may be replaced where
    passwords protect nothing."""

    def __init__(self, gateway: Gateway, clock: Callable[[], float] = monotonic) -> None:
        self._gateway = gateway
        self._store = gateway.store
        self.hasher = PasswordHasher()
        self._threads = ThreadPoolExecutor(_HASHING, "tidings-passwords")
        self._nobody: str | None = None  # a hash that no password fits
        self._waiting = 0
        self._guesses = Throttle(0.1, burst=10, clock=clock)  # by name and address: ten, then one in ten seconds
        self._tries = Throttle(2.0, burst=100, clock=clock)  # by address

    async def close(self) -> None:
        self._threads.shutdown()

    async def register(self, username: str, password: str, address: str) -> tuple[str, Token]:
        """A new account and its first token; raises what is wrong with either."""
        if not self._gateway.settings.registration:
            raise RegistrationClosed
        if not is_username(username):
            raise IllegalUsername(username)
        self._check_password(password)
        self._tries.take(address)  # hashing costs us more than asking costs them
        if username == OPERATOR:
            raise AccountExists(username)
        if await self._gateway.read(self._store.account, username) is not None:
            raise AccountExists(username)
        hashed = await self._hashing(self.hasher.hash, password)
        account = Account(username, hashed, self._gateway.settings.first_scopes, self._store.clock.now())
        await self._gateway.write(self._store.add_account, account)
        return await self._give(account, account.scopes, "registration", None)

    async def log_in(
        self,
        username: str,
        password: str,
        address: str,
        name: str = "",
        scopes: frozenset[str] | None = None,
        expires: Instant | None = None,
    ) -> tuple[str, Token]:
        """A new token; raises WrongPassword, TooManyRequests or OutOfScope."""
        account = await self.prove(username, password, address)
        for scope in () if scopes is None else sorted(scopes - account.scopes):
            raise OutOfScope(scope, tuple(one for one in SCOPES if one in account.scopes))
        return await self._give(account, account.scopes if scopes is None else scopes, name, expires)

    async def prove(self, username: str, password: str, address: str) -> Account:
        """The account that has this password; raises WrongPassword or TooManyRequests."""
        key = (username if is_username(username) else "", address)  # what nobody is called is not worth its memory
        self._tries.take(address)
        try:
            self._guesses.take(key)
        except TidingsError:
            self._tries.give_back(address)
            raise
        account = await self._gateway.read(self._store.account, username) if is_username(username) else None
        if account is None or not account.password or len(password) > LONGEST_PASSWORD:
            await self._hashing(self._verified, await self._nobodys(), password[:LONGEST_PASSWORD])
            raise WrongPassword
        if not await self._hashing(self._verified, account.password, password):
            raise WrongPassword
        self._guesses.give_back(key)
        self._tries.give_back(address)
        return account

    async def change_password(self, caller: Caller, old: str, new: str, address: str) -> None:
        """All tokens but the one that asks are taken back."""
        self._check_password(new)
        account = await self.prove(caller.owner, old, address)
        hashed = await self._hashing(self.hasher.hash, new)
        change = self._store.change_account
        if not await self._gateway.write(change, caller.owner, hashed, proved=account, keep=caller.digest):
            raise WrongPassword  # somebody else was quicker
        self._gateway.callers.forget()

    async def change_scopes(self, username: str, scopes: frozenset[str]) -> Account:
        """Tokens that could do more than the account now may are taken back; raises NoSuchAccount or LastOperator."""
        if not is_username(username) or not await self._gateway.write(
            self._store.change_account, username, None, scopes
        ):
            raise NoSuchAccount(username)
        self._gateway.callers.forget()
        account = await self._gateway.read(self._store.account, username)
        assert account is not None
        return account

    async def tokens(self, caller: Caller) -> list[Token]:
        return await self._gateway.read(self._store.tokens_of, caller.owner)

    async def remove_token(self, caller: Caller, id: str) -> None:
        """By id, or 'current'; raises NoSuchToken."""
        for token in await self.tokens(caller):
            if id == token_id(token) or (id == "current" and token.digest == caller.digest):
                await self._take_back(token)
                return
        raise NoSuchToken(id)

    async def _take_back(self, token: Token) -> None:
        """With the sessions that were begun with it, which it was the only proof for."""
        await self._gateway.write(self._store.remove_token, token.digest, token.username)
        self._gateway.callers.forget(token.digest)
        for other in await self._gateway.read(self._store.tokens_of, token.username):
            if other.kind == "session" and other.name == session_name(token):
                await self._gateway.write(self._store.remove_token, other.digest, other.username)
                self._gateway.callers.forget(other.digest)

    async def _give(
        self, account: Account, scopes: frozenset[str], name: str, expires: Instant | None
    ) -> tuple[str, Token]:
        """Raises WrongPassword where the account was changed since it was proved."""
        secret = new_token()
        token = Token(digest_of(secret), account.username, "token", name, scopes, self._store.clock.now(), expires)
        if not await self._gateway.write(self._store.add_token, token, account, MOST_TOKENS):
            raise WrongPassword
        return secret, token

    async def _nobodys(self) -> str:
        if self._nobody is None:
            self._nobody = await self._hashing(self.hasher.hash, new_token())
        return self._nobody

    def _verified(self, hashed: str, password: str) -> bool:
        try:
            return self.hasher.verify(hashed, password)
        except (Argon2Error, InvalidHashError):
            return False

    def _check_password(self, password: str) -> None:
        if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD or "\0" in password:
            raise IllegalPassword

    async def _hashing(self, work: Callable[..., T], *args: str) -> T:
        if self._waiting >= _MOST_WAITING:
            raise TooManyLogins
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
        finally:
            self._waiting -= 1


def is_username(text: str) -> bool:
    return re.fullmatch(USERNAME, text) is not None and not text.endswith("\n")


def session_name(token: Token) -> str:
    """Of a session that was begun by showing this token."""
    return f"browser, by token {token_id(token)}"


def token_id(token: Token) -> str:
    """What names a token to its owner without giving it away."""
    return token.digest.hex()[:_ID]
