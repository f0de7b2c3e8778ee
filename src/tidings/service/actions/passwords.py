"""Passwords: hashed by argon2id in two threads of 64 MiB each; while too many wait, new requests are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from tidings.service.actions.account_errors import (
    LONGEST_PASSWORD,
    SHORTEST_PASSWORD,
    IllegalPassword,
    TooManyLogins,
)
from tidings.service.door.callers import new_token

T = TypeVar("T")
_HASHING = 2  # at once
_MOST_WAITING = 50


class Passwords:
    """Of one event loop. `hasher` may be replaced where passwords protect nothing. Each call raises TooManyLogins."""

    def __init__(self) -> None:
        self.hasher = PasswordHasher()
        self._threads = ThreadPoolExecutor(_HASHING, "tidings-passwords")
        self._nobody: str | None = None  # a hash that no password fits
        self._waiting = 0

    def close(self) -> None:
        self._threads.shutdown()

    async def hash(self, password: str) -> str:
        return await self._in_thread(self.hasher.hash, password)

    async def verify(self, hashed: str, password: str) -> bool:
        return await self._in_thread(self._verified, hashed, password)

    async def refuse(self, password: str) -> None:
        """As much work as `verify`, for an account that does not exist."""
        if self._nobody is None:
            self._nobody = await self.hash(new_token())
        await self.verify(self._nobody, password)

    def is_weak(self, hashed: str) -> bool:
        """Whether an older release made this hash, with weaker parameters."""
        return self.hasher.check_needs_rehash(hashed)

    def _verified(self, hashed: str, password: str) -> bool:
        try:
            return self.hasher.verify(hashed, password)
        except (Argon2Error, InvalidHashError):
            return False

    async def _in_thread(self, work: Callable[..., T], *args: str) -> T:
        if self._waiting >= _MOST_WAITING:
            raise TooManyLogins
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
        finally:
            self._waiting -= 1


def check_password(password: str) -> None:
    """Raises IllegalPassword where it cannot be a new one."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD or "\0" in password:
        raise IllegalPassword
