"""Waiting for notifications: one task looks at the store for all who wait, and only while somebody does."""

from __future__ import annotations

import asyncio
import logging

from tidings.errors import StoreError
from tidings.service.gateway import Gateway

log = logging.getLogger("tidings.service")
_EVERY = 0.05  # seconds


class Watching:
    """Of one event loop. `newest` moves whenever a query has stored what it found, by whatever process."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._waiting: set[asyncio.Future[None]] = set()
        self._task: asyncio.Task[None] | None = None
        self._last = 0
        self.closed = False  # the service stops: who waits should answer with what there is

    async def newest(self) -> int:
        """The cursor of the newest notification. Ask before reading: what is stored between the reading and the waiting
        is not missed then."""
        return await self._gateway.read(self._gateway.store.last_cursor)

    async def wait(self, since: int, seconds: float) -> None:
        """Returns when the newest cursor is not `since` any more, or the time is up."""
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(answer)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._look(since))
        elif since != self._last:
            self._last = min(since, self._last)  # somebody who read earlier may be told once too often
        try:
            await asyncio.wait((answer,), timeout=seconds)
        finally:
            self._waiting.discard(answer)

    async def close(self) -> None:
        self.closed = True
        for answer in self._waiting:
            if not answer.done():
                answer.set_result(None)
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _look(self, since: int) -> None:
        self._last = since
        try:
            while self._waiting:
                try:
                    newest = await self.newest()
                except StoreError as problem:
                    log.warning("cannot look for notifications: %s", problem)
                    await asyncio.sleep(1)
                    continue
                if newest != self._last:
                    self._last = newest
                    for answer in self._waiting:
                        if not answer.done():
                            answer.set_result(None)
                await asyncio.sleep(_EVERY)
        finally:
            self._task = None
