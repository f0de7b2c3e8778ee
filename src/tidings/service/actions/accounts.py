"""Accounts: registering, logging in, changing a password, with guesses made slow and answers that betray nothing.

A name that nobody has and a password that is wrong get the same answer after the same work (`passwords`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from time import monotonic

from tidings.errors import TidingsError
from tidings.schema import Instant
from tidings.service.actions.account_errors import (
    LONGEST_PASSWORD,
    AccountDisabled,
    IllegalUsername,
    NoSuchAccount,
    NoSuchToken,
    RegistrationClosed,
    WrongPassword,
)
from tidings.service.actions.passwords import Passwords, check_password
from tidings.service.door.callers import Caller, OutOfScope, UnknownToken, digest_of, new_token
from tidings.service.door.rate_limits import Throttle
from tidings.service.gateway import Gateway
from tidings.settings import SCOPES
from tidings.store import DeletedAccount, SetQuota
from tidings.store.accounts.accounts import OPERATOR, Account, Token
from tidings.store.errors import AccountExists

USERNAME = r"^[a-z0-9][a-z0-9_.-]{2,63}$"
SESSION_DAYS = 7  # that a session lasts
_DAY = 86_400_000_000  # microseconds
MOST_TOKENS = 1_000  # of one account; beyond, its oldest makes room
_ID = 12  # hexadecimal digits of a token's digest that name it


class Accounts:
    """Of one event loop; `close` it there. `clock` counts seconds for the throttles."""

    def __init__(self, gateway: Gateway, clock: Callable[[], float] = monotonic) -> None:
        self._gateway = gateway
        self._store = gateway.store
        self.passwords = Passwords()
        self._guesses = Throttle(0.1, burst=10, clock=clock)  # by name and address: ten, then one in ten seconds
        self._tries = Throttle(2.0, burst=100, clock=clock)  # by address
        self._shown = Throttle(2.0, burst=20, clock=clock)  # tokens, by address

    async def close(self) -> None:
        self.passwords.close()

    async def register(self, username: str, password: str, address: str) -> tuple[str, Token]:
        """A new account and its first token; raises what is wrong with either."""
        account = await self.add(username, password, address)
        return await self._give(account, account.scopes, "registration", None)

    async def add(self, username: str, password: str, address: str) -> Account:
        """A new account without a token."""
        if not self._gateway.settings.registration:
            raise RegistrationClosed
        if not is_username(username):
            raise IllegalUsername(username)
        check_password(password)
        self._tries.take(address)  # hashing costs us more than asking costs them
        if username == OPERATOR:
            raise AccountExists(username)
        if await self._gateway.read(self._store.account, username) is not None:
            raise AccountExists(username)
        hashed = await self.passwords.hash(password)
        account = Account(username, hashed, self._gateway.settings.first_scopes, self._store.clock.now())
        await self._gateway.write(self._store.add_account, account)
        return account

    async def account(self, username: str) -> Account:
        """Raises NoSuchAccount."""
        found = await self._gateway.read(self._store.account, username)
        if found is None:
            raise NoSuchAccount(username)
        return found

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
        """The account that has this password; raises WrongPassword, AccountDisabled or TooManyRequests."""
        key = (username if is_username(username) else "", address)  # what nobody is called is not worth its memory
        self._tries.take(address)
        try:
            self._guesses.take(key)
        except TidingsError:
            self._tries.give_back(address)
            raise
        account = await self._gateway.read(self._store.account, username) if is_username(username) else None
        if account is None or not account.password or len(password) > LONGEST_PASSWORD:
            await self.passwords.refuse(password[:LONGEST_PASSWORD])
            raise WrongPassword
        if not await self.passwords.verify(account.password, password):
            raise WrongPassword
        if self.passwords.is_weak(account.password):
            new = await self.passwords.hash(password)
            if await self._gateway.write(self._store.change_account, username, new, proved=account):
                account = replace(account, password=new)
        self._guesses.give_back(key)
        self._tries.give_back(address)
        if account.state == "disabled":
            raise AccountDisabled
        return account

    async def change_password(self, caller: Caller, old: str, new: str, address: str) -> None:
        """Revokes all tokens but the one that asks."""
        check_password(new)
        account = await self.prove(caller.owner, old, address)
        hashed = await self.passwords.hash(new)
        change = self._store.change_account
        if not await self._gateway.write(change, caller.owner, hashed, proved=account, keep=caller.digest):
            raise WrongPassword  # somebody else was quicker
        self._gateway.callers.forget()

    async def delete(self, caller: Caller, password: str, address: str) -> DeletedAccount:
        """The caller's own account; see `Store.delete_account`. Raises WrongPassword, LastOperator, ClockJumped or
        TooManyRequests."""
        account = await self.prove(caller.owner, password, address)
        deleted = await self._gateway.write(self._store.delete_account, caller.owner, proved=account)
        if deleted is None:
            raise WrongPassword  # the account was changed meanwhile
        self._gateway.callers.forget()
        return deleted

    async def change_scopes(self, username: str, scopes: frozenset[str]) -> Account:
        """Revokes tokens that could do more than the account now may; raises NoSuchAccount or LastOperator."""
        if not is_username(username) or not await self._gateway.write(
            self._store.change_account, username, None, scopes
        ):
            raise NoSuchAccount(username)
        self._gateway.callers.forget()
        return await self.account(username)

    async def set_quota(self, username: str, matches_per_minute: int) -> None:
        """0: any number. Raises NoSuchAccount."""
        await self.account(username)
        await self._gateway.append_one(SetQuota(matches_per_minute, username))

    async def show_token(self, secret: str, address: str) -> tuple[Account, Token]:
        """Whose token it is, as the first operator has one and no password. A token cannot be guessed, but asking costs
        a read. Raises UnknownToken or TooManyRequests."""
        self._shown.take(address)
        token = await self._gateway.read(self._store.token, digest_of(secret))
        account = None if token is None else await self._gateway.read(self._store.account, token.username)
        if token is None or account is None or token.kind != "token":
            raise UnknownToken
        return account, token

    async def begin_session(self, account: Account, by: Token | None = None) -> tuple[str, Token]:
        """For a browser. `by`: the token that was shown instead of a password; the session may do no more, lasts no
        longer, and goes with it. Raises WrongPassword where the account has changed, UnknownToken where the token is
        gone."""
        secret, made = new_token(), self._store.clock.now()
        expires = Instant(made + SESSION_DAYS * _DAY)
        token = Token(digest_of(secret), account.username, "session", "browser", account.scopes, made, expires)
        if by is not None:
            last = expires if by.expires is None else min(by.expires, expires)
            token = replace(token, name=session_name(by), scopes=by.scopes & account.scopes, expires=last)
        if not await self._gateway.write(self._store.add_token, token, proved=account, most=MOST_TOKENS):
            raise WrongPassword
        if by is not None and await self._gateway.read(self._store.token, by.digest) is None:  # revoked meanwhile
            await self._gateway.write(self._store.remove_token, token.digest)
            raise UnknownToken
        return secret, token

    async def end_session(self, secret: str) -> None:
        """Does nothing if the token is not a session's."""
        digest = digest_of(secret)
        known = await self._gateway.read(self._store.token, digest)
        if known is not None and known.kind == "session":
            await self._gateway.write(self._store.remove_token, digest)
            self._gateway.callers.forget(digest)

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


def is_username(text: str) -> bool:
    return re.fullmatch(USERNAME, text) is not None and not text.endswith("\n")


def session_name(token: Token) -> str:
    """Of a session that was begun by showing this token."""
    return f"browser, by token {token_id(token)}"


def token_id(token: Token) -> str:
    """What names a token to its owner without giving it away."""
    return token.digest.hex()[:_ID]
