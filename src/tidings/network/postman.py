"""Carries messages to one neighbour over a kept-alive connection, in order, many in one request. What cannot be
delivered is dropped: the machine sends again what matters."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass

import httpx

from tidings.network.addresses import check_url, trusted
from tidings.network.wire import encode_one, pack
from tidings.network.wire_shapes import MOST_BYTES
from tidings.overlay.messages import Events, Message

_log = logging.getLogger(__name__)
_PATIENCE = 4.0  # seconds for an answer; a link is dead after five heartbeats
_MOST_WAITING = 5_000  # messages; more are dropped, oldest first
_MOST_MESSAGES = 1_000  # in one request
_PAUSE = 0.5  # seconds after a failure
_MEDIA = {"content-type": "application/msgpack"}


@dataclass(slots=True)
class Carried:
    requests: int = 0
    messages: int = 0
    events: int = 0
    bytes: int = 0
    dropped: int = 0
    failed: int = 0
    problem: str = ""  # of the last request


class Postman:
    """To one neighbour. `send` returns at once; `close` gives up what waits."""

    def __init__(self, url: str, token: str) -> None:
        check_url(url)
        self.url = url
        self.carried = Carried()
        self._waiting: deque[Message] = deque()
        self._work = asyncio.Event()
        self._client = httpx.AsyncClient(
            timeout=_PATIENCE,
            headers={"authorization": f"Bearer {token}", **_MEDIA},
            limits=httpx.Limits(max_connections=1, keepalive_expiry=30),
            trust_env=False,
            verify=trusted(url),
        )
        self._task = asyncio.create_task(self._run())

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def send(self, message: Message) -> None:
        if len(self._waiting) >= _MOST_WAITING:
            self._waiting.popleft()
            self.carried.dropped += 1
        self._waiting.append(message)
        self._work.set()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))
        await self._client.aclose()

    async def _run(self) -> None:
        while True:
            await self._work.wait()
            some, body = self._next()
            if not some:
                self._work.clear()
                continue
            try:
                answer = await self._client.post(f"{self.url}/v1/network/messages", content=body)
                problem = "" if answer.is_success else f"{answer.status_code}: {answer.text[:200]}"
            except (httpx.HTTPError, OSError) as trouble:
                problem = f"{type(trouble).__name__}: {trouble}"
            if problem and problem != self.carried.problem:
                _log.warning("link to %s: %s", self.url, problem)
            self.carried.problem = problem
            if problem:
                self.carried.failed += 1
                self.carried.dropped += len(some)
                await asyncio.sleep(_PAUSE)
            else:
                self.carried.requests += 1
                self.carried.messages += len(some)
                self.carried.bytes += len(body)
                self.carried.events += sum(len(one.events) for one in some if isinstance(one, Events))

    def _next(self) -> tuple[list[Message], bytes]:
        """What fits into one request."""
        some: list[Message] = []
        pieces: list[bytes] = []
        size = 0
        while self._waiting and len(some) < _MOST_MESSAGES:
            piece = encode_one(self._waiting[0])
            if some and size + len(piece) > MOST_BYTES:
                break
            size += len(piece)
            pieces.append(piece)
            some.append(self._waiting.popleft())
        return some, pack(pieces)
