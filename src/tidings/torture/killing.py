"""Blows at random moments: the gateway, the pipeline or the outbox is killed, in the midst of its work or while it
starts; and for some seconds the disk is full or the clock wrong."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx

from tidings.torture.record import Record
from tidings.torture.server import VICTIMS, Server, Victim
from tidings.torture.waiting import wait

_CHILDREN: tuple[Victim, ...] = ("pipeline", "outbox")
_WEIGHTS = {"gateway": 3, "pipeline": 3, "outbox": 2}
_BETWEEN = 2.0  # seconds between two blows, on the average
_LOOK = 0.25  # seconds
_AT_START = 0.2  # the chance that the next blow hits before there is work; never twice in a row, since the service
# gives up a child that fails five times without having done anything
_LIFE = 10.0  # seconds of work before the next blow, at most
_TROUBLED = (1.0, 6.0)  # seconds for which a trouble lasts


class Trouble(Protocol):
    """Something that goes wrong for a while."""

    def begin(self) -> None: ...

    def end(self) -> None: ...


@dataclass(slots=True)
class _Child:
    """How it is since it was killed last: since when it works, and when it may be struck."""

    life: float
    works_since: float | None = None
    committed: int = -1  # what was matched when it was killed
    at_start: bool = False

    @property
    def may_be_killed(self) -> bool:
        if self.works_since is None:
            return self.at_start
        return time.monotonic() - self.works_since > self.life


class Killer:
    """Whoever comes back has time to do something, mostly, else there would be nothing to see. `ended` stops it."""

    def __init__(
        self, server: Server, record: Record, draw: random.Random, troubles: Mapping[str, Trouble] | None = None
    ) -> None:
        self.ended = asyncio.Event()
        self._troubles = dict(troubles or {})
        self._server, self._record, self._draw = server, record, draw
        self._children = {name: _Child(draw.uniform(2, _LIFE)) for name in _CHILDREN}
        self._committed = 0

    async def kill(self) -> None:
        """On and on, until it has ended; then the service runs."""
        while True:
            await wait(self.ended, self._draw.uniform(0, 2 * _BETWEEN))
            if self.ended.is_set():
                return
            if self._troubles and self._draw.random() < len(self._troubles) / (2 * len(VICTIMS)):
                await self._trouble(self._draw.choice(sorted(self._troubles)))
                continue
            victim: Victim = self._draw.choices(VICTIMS, [_WEIGHTS[name] for name in VICTIMS])[0]
            # The pipeline goes down with its gateway, and takes longest to come up.
            if not self._children["pipeline" if victim == "gateway" else victim].may_be_killed:
                continue
            self._strike(victim)
            if victim == "gateway":
                for child in _CHILDREN:
                    if self._draw.random() < 0.5:  # else it ends by itself, some time after its gateway
                        self._strike(child)
                await asyncio.sleep(self._draw.choice((0.0, 0.0, self._draw.uniform(0, 2))))
                await self._server.start()
                self._record.restarts += 1

    async def _trouble(self, name: str) -> None:
        self._record.kills[name] += 1
        self._troubles[name].begin()
        try:
            await asyncio.sleep(self._draw.uniform(*_TROUBLED))
        finally:
            self._troubles[name].end()

    async def watch(self) -> None:
        """Notes who works."""
        async with httpx.AsyncClient(base_url=self._server.url, trust_env=False, timeout=5) as http:
            while True:
                seen = await ready(http)
                self._committed = seen.get("committed", self._committed)
                for name, child in self._children.items():
                    runs = seen.get(name, {}).get("state") == "running"
                    if runs and child.works_since is None and (name == "outbox" or self._committed != child.committed):
                        child.works_since = time.monotonic()
                self._server.look()
                await asyncio.sleep(_LOOK)

    def _strike(self, victim: Victim) -> None:
        if not self._server.kill(victim):
            return
        self._record.kills[victim] += 1
        for name in _CHILDREN if victim == "gateway" else (victim,):
            child = self._children[name]
            at_start = child.works_since is not None and self._draw.random() < _AT_START
            self._children[name] = _Child(self._draw.uniform(0, _LIFE), None, self._committed, at_start)


async def ready(http: httpx.AsyncClient) -> dict[str, Any]:
    """What /readyz says; nothing where nobody answers."""
    try:
        found = (await http.get("/readyz")).json()
    except (httpx.TransportError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
