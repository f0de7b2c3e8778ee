"""One live stream: what waits for its connection, and no more than little of it."""

from __future__ import annotations

import asyncio
from collections import deque

from tidings.service.door.callers import Caller

_KEPT = 256  # notifications
_KEPT_BYTES = 256 << 10
_CHUNK = 64 << 10  # bytes that are sent at once


class Stream:
    """What waits for one connection. `cursor` is that of the last notification which was handed to it."""

    def __init__(self, caller: Caller, subscription: str | None, cursor: int) -> None:
        self.owner = caller.owner
        self.digest = caller.digest
        self.subscription = subscription
        self.cursor = cursor
        self.behind = True  # what comes is not kept: it reads from the store first
        self.ended = False
        self._kept: deque[tuple[int, bytes]] = deque()
        self._bytes = 0
        self._woken = asyncio.Event()

    def hand(self, cursor: int, text: bytes) -> None:
        if self.behind or self.ended:
            return
        if len(self._kept) >= _KEPT or self._bytes + len(text) > _KEPT_BYTES:
            self.fall_behind()
            return
        self._kept.append((cursor, text))
        self._bytes += len(text)
        self._woken.set()

    def fall_behind(self) -> None:
        self.behind = True
        self._kept.clear()
        self._bytes = 0
        self._woken.set()

    def end(self) -> None:
        self.ended = True
        self._woken.set()

    def take(self) -> bytes:
        """Some of what waits; nothing where nothing does."""
        taken = bytearray()
        while self._kept and len(taken) < _CHUNK:
            cursor, text = self._kept.popleft()
            self._bytes -= len(text)
            if cursor > self.cursor:  # else it was in the page that the stream read meanwhile
                self.cursor = cursor
                taken += text
        return bytes(taken)

    async def wait(self, seconds: float) -> bool:
        """Whether something happened before the time was over."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return False
        self._woken.clear()
        return True
