"""The pulse of the service: how many events, matches and how much lag, every two seconds of the last ten minutes."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic

from tidings.errors import StoreError
from tidings.service.gateway import Gateway
from tidings.store.figures import Growth, growth

log = logging.getLogger("tidings.service")

EVERY = 2.0  # seconds
_KEPT = 300
_RATE_OVER = 5  # beats


@dataclass(frozen=True, slots=True)
class Beat:
    at: float
    seen: Growth


class Pulse:
    """Of one event loop."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self.beats: deque[Beat] = deque(maxlen=_KEPT)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._beat())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def rates(self) -> tuple[list[float], list[float], list[int]]:
        """Events and matches a second, and the lag, beat by beat."""
        beats = list(self.beats)
        events, matches = [], []
        for before, after in pairwise(beats):
            seconds = max(after.at - before.at, 1e-3)
            events.append(_new_events(before, after) / seconds)
            matches.append(max(0, after.seen.matches - before.seen.matches) / seconds)
        return events, matches, [beat.seen.lag for beat in beats[1:]]

    def now(self) -> tuple[float, float]:
        """Events and matches a second of late."""
        beats = list(self.beats)[-_RATE_OVER - 1 :]
        if len(beats) < 2:
            return 0.0, 0.0
        first, last = beats[0], beats[-1]
        seconds = max(last.at - first.at, 1e-3)
        return _new_events(first, last) / seconds, max(0, last.seen.matches - first.seen.matches) / seconds

    async def _beat(self) -> None:
        while True:
            try:
                seen = await self._gateway.read(growth, self._gateway.store.database)
                self.beats.append(Beat(monotonic(), seen))
            except StoreError as problem:
                log.warning("cannot take the pulse: %s", problem)
            except Exception:  # whatever it is: a pulse that ended would leave an old lag to judge by
                log.exception("cannot take the pulse")
            await asyncio.sleep(EVERY)


def _new_events(before: Beat, after: Beat) -> int:
    """By their number, unless some were removed in between: then by the journal's length."""
    then, now = before.seen, after.seen
    new = now.events - then.events if now.complete_from == then.complete_from else now.tail - then.tail
    return max(0, new)
