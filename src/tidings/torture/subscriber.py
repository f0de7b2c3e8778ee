"""One client of the service under torture: publishes, subscribes, changes its mind, reads and follows, all at once.

What it was told goes into the record; what it was not told it asks for again.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from tidings.torture.asking import Asking, GivenUp, Refusal
from tidings.torture.numbers import MOST, Numbers, draw_numbers, sample
from tidings.torture.receiver import Receiver
from tidings.torture.record import Change, Kind, Published, Record, Seen, Subscribed
from tidings.torture.waiting import wait

_STANDING = 12  # subscriptions at once
_FIRST = 6  # of them at the beginning
_BETWEEN = 0.8  # seconds between two changes, on the average
_HELD = 3.0  # seconds for which a channel is paused, at most
_NAP = 3.0  # seconds for which a reader is away, at most
_PAGE = 500
_ASKED = 20  # times that a channel is resumed; the receiver consents to most
_BACK = 0.2  # seconds before a stream that broke is opened again


@dataclass(slots=True)
class _Held:
    """A subscription of ours, as it stands."""

    one: Subscribed
    active: bool = True


class Subscriber:
    """`ended`: no more events and changes. `calm`: nobody dawdles any more."""

    def __init__(self, name: str, asking: Asking, receiver: Receiver, record: Record, draw: random.Random) -> None:
        self.name = name
        self.ended = asyncio.Event()
        self.calm = asyncio.Event()
        self._asking, self._receiver, self._record, self._draw = asking, receiver, record, draw
        self._held: list[_Held] = []
        self._webhooks: list[str] = []
        self._made = 0
        record.read[name], record.streamed[name] = [], []

    # What ends by itself

    async def publish(self, number: int, rate: float) -> None:
        """So many events a second."""
        count = 0
        while not self.ended.is_set():
            began = time.monotonic()
            count += 1
            await self.publish_one(f"{number}-{count}")
            await wait(self.ended, 1 / rate - (time.monotonic() - began))

    async def publish_one(self, name: str) -> None:
        n, m = self._draw.randrange(MOST), self._draw.randrange(MOST)
        one = Published(f"{self.name}-{name}", n, m, self._record.next_tick())
        self._record.published[one.id] = one
        with suppress(Refusal, GivenUp):
            answer = await self._asking.told("POST", "/v1/events", sample(one.id, n, m))
            one.ended, one.position = self._record.next_tick(), answer["position"]
            one.at = time.monotonic()

    async def change(self) -> None:
        """Subscriptions come, change and go."""
        while not self.ended.is_set():
            with suppress(Refusal, GivenUp):
                if len(self._held) < _FIRST and self._made < _FIRST:
                    await self._subscribe()
                    continue
                await self._change_something()
            await wait(self.ended, self._draw.expovariate(1 / _BETWEEN))

    async def wake_channels(self) -> None:
        """At the end nothing that is owed is held back: whatever was paused, disabled or never confirmed goes on."""
        for id in self._webhooks:
            with suppress(Refusal, GivenUp):
                await self._wake(id)

    # What goes on until it is cancelled

    async def read(self) -> None:
        """Page after page; now and then it is away, and finds what it missed."""
        cursor = ""
        while True:
            path = f"/v1/notifications?wait=1&limit={_PAGE}&after={cursor}"
            try:
                page = await self._asking.told("GET", path)
            except (Refusal, GivenUp):
                await asyncio.sleep(_BACK)
                continue
            self._record.read[self.name] += [seen(one, time.monotonic()) for one in page["items"]]
            cursor = page["next"]
            if self._draw.random() < 0.2:
                await wait(self.calm, self._draw.uniform(0, _NAP))

    async def follow(self) -> None:
        """The stream, opened again after its last event wherever it breaks; now and then it breaks here."""
        last = ""
        while True:
            last = await self._follow(last)
            await asyncio.sleep(_BACK)

    async def _follow(self, last: str) -> str:
        """Until it breaks; the id of the last event that came whole."""
        headers = {"Last-Event-ID": last} if last else {}
        enough = self._draw.randrange(20, 2_000)
        timeout = httpx.Timeout(5, read=40)  # it has a heart-beat
        data = id = ""
        with suppress(httpx.TransportError):
            async with self._asking.http.stream(
                "GET", "/v1/notifications/stream", headers=headers, timeout=timeout
            ) as stream:
                if stream.status_code != 200:
                    if stream.status_code not in (429, 503):
                        self._record.refused.append(f"GET /v1/notifications/stream: {stream.status_code}")
                    return last
                async for line in stream.aiter_lines():
                    name, _, value = line.partition(": ")
                    if name == "id":
                        id = value
                    elif name == "data":
                        data = value
                    elif not line and data:
                        self._record.streamed[self.name].append(seen(json.loads(data), time.monotonic()))
                        last, data = id, ""
                        enough -= 1
                        if enough < 0 and not self.calm.is_set():
                            break
        return last

    # Changes

    async def _change_something(self) -> None:
        chances: list[tuple[Callable[[_Held], Awaitable[None]], int]] = [
            (self._edit, 4), (self._pause_or_resume, 6), (self._withdraw, 2), (self._hold, 3),
            (self._reshape, 2), (self._rotate, 1), (self._replay, 1),
        ]  # fmt: skip
        if not self._held or (len(self._held) < _STANDING and self._draw.random() < 0.2):
            await self._subscribe()
            return
        act = self._draw.choices([act for act, _ in chances], [chance for _, chance in chances])[0]
        await act(self._draw.choice(self._held))

    async def _subscribe(self) -> None:
        self._made += 1
        channel: Literal["stored", "webhook"] = "webhook" if self._made % 3 else "stored"
        numbers = draw_numbers(self._draw)
        body: dict[str, Any] = {"filter": numbers.text}
        if channel == "webhook":
            body["channel"] = self._channel()
        change = Change("subscribe", numbers, True, self._record.next_tick())
        self._record.pending += 1
        try:
            answer = await self._asking.told("POST", "/v1/subscriptions", body, self._key())
        except Refusal:
            self._record.pending -= 1
            raise
        self._record.pending -= 1
        change.ended = self._record.next_tick()
        one = Subscribed(answer["id"], self.name, channel, answer["since"], [change])
        self._record.subscribed[one.id] = one
        self._held.append(_Held(one))
        if channel == "webhook":
            self._webhooks.append(one.id)
            self._receiver.secrets[one.id] = [answer["secret"]]
            await self._wake(one.id)

    async def _edit(self, held: _Held) -> None:
        numbers = draw_numbers(self._draw)
        await self._noted(held, "edit", numbers, held.active, "PATCH", {"filter": numbers.text})

    async def _pause_or_resume(self, held: _Held) -> None:
        numbers, active = held.one.changes[-1].numbers, not held.active
        kind: Kind = "resume" if active else "pause"
        await self._noted(held, kind, numbers, active, "PATCH", {"state": "active" if active else "paused"})
        held.active = active

    async def _withdraw(self, held: _Held) -> None:
        self._held.remove(held)
        await self._noted(held, "withdraw", held.one.changes[-1].numbers, False, "DELETE", None)

    async def _noted(
        self, held: _Held, kind: Kind, numbers: Numbers, active: bool, method: str, body: dict[str, Any] | None
    ) -> None:
        """One that is withdrawn already has been so by the request whose answer was lost. What is refused has not taken
        place."""
        change = Change(kind, numbers, active, self._record.next_tick())
        held.one.changes.append(change)
        fine = (404,) if kind == "withdraw" else ()
        try:
            await self._asking.ask(method, f"/v1/subscriptions/{held.one.id}", body, self._key(), fine)
        except Refusal:
            held.one.changes.remove(change)
            raise
        change.ended = self._record.next_tick()

    async def _hold(self, held: _Held) -> None:
        """The channel alone, for a moment: what is found meanwhile is still owed. It may be disabled, and then is not
        paused."""
        if held.one.channel == "webhook":
            path = f"/v1/subscriptions/{held.one.id}/channel/pause"
            await self._asking.ask("POST", path, None, self._key(), (409,))
            await wait(self.ended, self._draw.uniform(0, _HELD))
            await self._wake(held.one.id)

    async def _reshape(self, held: _Held) -> None:
        """Another address, a digest, a rate: all of them delay, and drop nothing."""
        if held.one.channel == "webhook":
            await self._asking.ask(
                "PATCH", f"/v1/subscriptions/{held.one.id}", {"channel": self._channel()}, self._key()
            )
            await self._wake(held.one.id)

    async def _rotate(self, held: _Held) -> None:
        if held.one.channel == "webhook":
            path = f"/v1/subscriptions/{held.one.id}/channel/rotate-secret"
            answer = await self._asking.told("POST", path, None, self._key())
            self._receiver.secrets[held.one.id].append(answer["secret"])

    async def _replay(self, held: _Held) -> None:
        """Some of the first ones come once more, under their old ids."""
        if held.one.channel == "webhook":
            first = self._draw.randrange(1, 20)
            body = {"from": first, "to": first + 3}
            await self._asking.ask("POST", f"/v1/subscriptions/{held.one.id}/replay", body, self._key())

    async def _wake(self, id: str) -> None:
        """Until the channel is active: the receiver may have to be asked more than once."""
        for _ in range(_ASKED):
            answer = await self._asking.ask("GET", f"/v1/subscriptions/{id}/channel", fine=(404,))
            if answer.status_code == 404 or answer.json()["state"] == "active":
                return
            await self._asking.ask("POST", f"/v1/subscriptions/{id}/channel/resume", None, self._key())
        self._record.refused.append(f"the channel of {id} was resumed {_ASKED} times and is not active")

    def _channel(self) -> dict[str, Any]:
        made: dict[str, Any] = {"kind": "webhook", "url": self._receiver.url(f"{self.name}/{self._draw.randrange(5)}")}
        match self._draw.randrange(5):
            case 0:
                made["digest"] = {"count": self._draw.randrange(2, 6), "seconds": 1}
            case 1:
                made["rate"] = {"count": 20, "seconds": 1}
        return made

    def _key(self) -> str:
        return f"{self.name}-{self._record.next_tick()}"


def seen(one: dict[str, Any], at: float) -> Seen:
    """A notification in JSON."""
    return Seen(one["id"], one["subscription"], one["event"]["id"], at)
