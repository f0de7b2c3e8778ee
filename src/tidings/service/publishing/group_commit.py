"""Group commit for an event loop: whatever is waiting when the journal is free is appended in one transaction.

`tidings.store.Appender` is the same for threads. Here a request costs no wake-up of its own: a whole group is
answered by one call back into the loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tidings.errors import Explained, ServiceError
from tidings.store import Draft, Outcome, Store

_MOST_DRAFTS = 5_000  # in one transaction, unless one submission has more
_MOST_WAITING = 100_000  # drafts; beyond, new ones are refused for a while


class Overloaded(Explained, ServiceError):
    template = "too many events wait for the journal; nothing was accepted: retry in a second"


class Committing:
    """Of one event loop. Submissions are appended in their order, each whole."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, "tidings-journal")
        self._waiting: deque[tuple[Sequence[Draft], asyncio.Future[list[Outcome]]]] = deque()
        self._size = 0
        self._running: asyncio.Task[None] | None = None

    def append(self, drafts: Sequence[Draft]) -> asyncio.Future[list[Outcome]]:
        """The outcomes, once they are committed, or a StoreError. Raises Overloaded."""
        if self._size > _MOST_WAITING:
            raise Overloaded
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[Outcome]] = loop.create_future()
        self._waiting.append((drafts, answer))
        self._size += len(drafts)
        if self._running is None:
            self._running = loop.create_task(self._run())
        return answer

    async def close(self) -> None:
        """Returns when all that was submitted is answered."""
        while self._running is not None:
            await asyncio.wait([self._running])
        self._thread.shutdown()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                group = self._next_group()
                drafts = [draft for some, _ in group for draft in some]
                try:
                    outcomes = await loop.run_in_executor(self._thread, self._store.append, drafts)
                except Exception as problem:  # whatever it is, those who wait must get it
                    for _, answer in group:
                        if not answer.done():
                            answer.set_exception(problem)
                    continue
                start = 0
                for some, answer in group:
                    if not answer.done():  # the caller may have gone; the journal has it all the same
                        answer.set_result(outcomes[start : start + len(some)])
                    start += len(some)
        finally:
            self._running = None

    def _next_group(self) -> list[tuple[Sequence[Draft], asyncio.Future[list[Outcome]]]]:
        group: list[tuple[Sequence[Draft], asyncio.Future[list[Outcome]]]] = []
        size = 0
        while self._waiting and (not group or size + len(self._waiting[0][0]) <= _MOST_DRAFTS):
            drafts, answer = self._waiting.popleft()
            self._size -= len(drafts)
            if not answer.cancelled():
                group.append((drafts, answer))
                size += len(drafts)
        return group
