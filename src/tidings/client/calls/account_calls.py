"""Accounts and their tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tidings.client import flows
from tidings.client.answers import StoredToken
from tidings.client.calls.twins import explained_by
from tidings.client.requests import account_requests
from tidings.client.sending import AsyncSender, Sender


class AccountCalls(Sender):
    def register(self, username: str, password: str) -> str:
        """Creates an account, uses its token from now on, and returns it."""
        self.token = self._call(account_requests.register(username, password))
        return self.token

    def log_in(
        self,
        username: str,
        password: str,
        *,
        name: str | None = None,
        scopes: Iterable[str] | None = None,
        expires: str | None = None,
    ) -> str:
        """Creates a token, uses it from now on and returns it. By default it has all scopes and never expires."""
        self.token = self._call(account_requests.log_in(username, password, name, scopes, expires))
        return self.token

    def log_out(self) -> None:
        """Revokes the token in use."""
        self._call(account_requests.log_out())
        self.token = None

    def account(self) -> dict[str, Any]:
        """The account that the token in use belongs to: `{"username", "scopes", "created"}`."""
        return self._call(account_requests.account())

    def delete_account(self, password: str) -> dict[str, Any]:
        """Deletes your account with its subscriptions, channels and tokens; this cannot be undone. Published events
        stay. Returns `{"username", "subscriptions", "deliveries"}`: how many of each were removed."""
        deleted = self._call(account_requests.delete_account(password))
        self.token = None
        return deleted

    def tokens(self) -> list[StoredToken]:
        """Your tokens, oldest first, without their secrets."""
        return self._run(flows.listed(account_requests.tokens, self.patience))

    def delete_token(self, id: str) -> None:
        """Revokes one of your tokens: `client.delete_token(client.tokens()[0].id)`"""
        self._call(account_requests.delete_token(id))


@explained_by(AccountCalls)
class AsyncAccountCalls(AsyncSender):
    async def register(self, username: str, password: str) -> str:
        self.token = await self._call(account_requests.register(username, password))
        return self.token

    async def log_in(
        self,
        username: str,
        password: str,
        *,
        name: str | None = None,
        scopes: Iterable[str] | None = None,
        expires: str | None = None,
    ) -> str:
        self.token = await self._call(account_requests.log_in(username, password, name, scopes, expires))
        return self.token

    async def log_out(self) -> None:
        await self._call(account_requests.log_out())
        self.token = None

    async def account(self) -> dict[str, Any]:
        return await self._call(account_requests.account())

    async def delete_account(self, password: str) -> dict[str, Any]:
        deleted = await self._call(account_requests.delete_account(password))
        self.token = None
        return deleted

    async def tokens(self) -> list[StoredToken]:
        return await self._run(flows.listed(account_requests.tokens, self.patience))

    async def delete_token(self, id: str) -> None:
        await self._call(account_requests.delete_token(id))
