"""The whole torture: a service, clients, a receiver and a killer, for a while; then quiet, and the verdict."""

from __future__ import annotations

import asyncio
import random
import re
import secrets
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from tidings.errors import TidingsError
from tidings.settings import PREFIX
from tidings.torture.asking import Asking, GivenUp, Refusal
from tidings.torture.checking import Verdict, check
from tidings.torture.disk import SmallDisk
from tidings.torture.killing import Killer, Trouble, ready
from tidings.torture.numbers import SCHEMA
from tidings.torture.receiver import Receiver
from tidings.torture.record import Record, Seen
from tidings.torture.server import Server
from tidings.torture.subscriber import Subscriber, seen
from tidings.torture.wrong_clock import WrongClock

_PUBLISHERS = 2  # of each client
_START = 120.0  # seconds for Spark to come up the first time
_PATIENCE = 240.0  # seconds for all that is left to do when the blows have ended
_READING = 120.0  # seconds more, to read what is stored
_LOOK = 0.5  # seconds
_STILL = 8  # looks in a row at which nothing moves
_DUE = re.compile(r'^tidings_deliveries_due\{kind="webhook"\} (\S+)', re.MULTILINE)


class FolderNotEmpty(TidingsError):
    def __init__(self, folder: str) -> None:
        super().__init__(folder)

    def __str__(self) -> str:
        return f"{self.args[0]} is not empty; choose a new folder with --data: the torture must know all that is in it"


@dataclass(frozen=True, slots=True)
class Plan:
    seconds: float = 60.0
    seed: int = 1
    clients: int = 4
    rate: float = 20.0  # events a second, of all clients
    troubles: bool = True  # full disks and wrong clocks, beside the kills
    store: str = ""  # a PostgreSQL to use, empty; else SQLite in the data folder


Tell = Callable[[str, Record], None]  # what is being done


def torture(plan: Plan, folder: Path, tell: Tell) -> Verdict:
    """Raises FolderNotEmpty or ServiceDidNotStart. However it ends, also by Ctrl-C or SIGTERM (KeyboardInterrupt),
    nothing that it started is left."""
    if folder.exists() and any(folder.iterdir()):
        raise FolderNotEmpty(str(folder))
    disk = SmallDisk(folder)
    clock = WrongClock(random.Random(f"{plan.seed} clock"))
    server = Server(folder, clock.environment | ({f"{PREFIX}STORE": plan.store} if plan.store else {}))
    troubles: dict[str, Trouble] = {"clock": clock} | ({"disk": disk} if disk.usable else {})
    if not plan.troubles:
        troubles = {}
    verdict = None
    try:
        verdict = asyncio.run(_Torture(plan, server, tell, troubles).run())
        return verdict
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        server.end()
        clock.close()
        if verdict is None or verdict.holds:  # else somebody wants to look at it
            disk.close()


class _Torture:
    def __init__(self, plan: Plan, server: Server, tell: Tell, troubles: Mapping[str, Trouble]) -> None:
        self._plan, self._server, self._tell, self._troubles = plan, server, tell, troubles
        self._record = Record()
        self._tasks: set[asyncio.Task[None]] = set()
        self._working: list[asyncio.Task[None]] = []  # of those, what ends by itself
        self._askings: list[Asking] = []

    async def run(self) -> Verdict:
        began = time.monotonic()
        with _ended_by_signals():
            async with Receiver(self._record, self._draw("receiver")) as receiver:
                try:
                    clients = await self._begin(receiver)
                    await self._suffer(clients)
                    quiet = await self._come_to_rest(receiver, clients)
                finally:
                    await _cancel(self._tasks)
                    for asking in self._askings:
                        await asking.close()
                receiver.verify_rest()
                self._tell("stopping the service", self._record)
                left = await self._server.stop()
        self._tell("checking", self._record)
        return replace(check(self._record), seconds=time.monotonic() - began, quiet=quiet, left=left)

    def _draw(self, *what: object) -> random.Random:
        return random.Random(f"{self._plan.seed} {what}")

    async def _begin(self, receiver: Receiver) -> list[Subscriber]:
        self._tell("starting the service", self._record)
        await self._server.start()
        clients, password = [], secrets.token_hex(16)
        nobody = Asking(self._server.url, self._record)
        for number in range(self._plan.clients):
            name = f"client-{number}"
            account = await nobody.told("POST", "/v1/accounts", {"username": name, "password": password})
            asking = Asking(self._server.url, self._record, account["token"])
            if number == 0:
                for path, body in SCHEMA:
                    await asking.told("POST", path, body)
            self._askings.append(asking)
            clients.append(Subscriber(name, asking, receiver, self._record, self._draw("client", number)))
        await nobody.close()
        await self._wait_for_spark(clients[0])
        return clients

    async def _wait_for_spark(self, client: Subscriber) -> None:
        """Until a first event is matched, so that the blows hit something. If that takes too long they begin all the
        same."""
        self._tell("waiting for Spark", self._record)
        await client.publish_one("first")
        end = time.monotonic() + _START
        async with httpx.AsyncClient(base_url=self._server.url, trust_env=False, timeout=10) as http:
            while (await ready(http)).get("lag") != 0 and time.monotonic() < end:
                await asyncio.sleep(_LOOK)

    async def _suffer(self, clients: list[Subscriber]) -> None:
        """For as long as planned. What fails unexpectedly here ends it all."""
        rate = self._plan.rate / (self._plan.clients * _PUBLISHERS)
        self._working = [
            self._start(work)
            for client in clients
            for work in (client.change(), *(client.publish(number, rate) for number in range(_PUBLISHERS)))
        ]
        for client in clients:
            self._start(client.read())
            self._start(client.follow())
        killer = Killer(self._server, self._record, self._draw("killer"), self._troubles)
        killing = self._start(killer.kill())
        self._start(killer.watch())
        end = time.monotonic() + self._plan.seconds
        while (left := end - time.monotonic()) > 0:
            self._tell(f"{left:.0f} s left", self._record)
            await self._look_after(min(left, _LOOK))
        killer.ended.set()
        while not killing.done():
            await self._look_after(_LOOK)

    async def _come_to_rest(self, receiver: Receiver, clients: list[Subscriber]) -> bool:
        """Whether all that was to be done was done in time. Then all that is stored is read once more."""
        end = asyncio.get_running_loop().time() + _PATIENCE
        receiver.calm = True
        for client, asking in zip(clients, self._askings, strict=True):
            asking.until = end
            client.ended.set()
            client.calm.set()
        while not all(task.done() for task in self._working):
            self._tell("waiting for the last answers", self._record)
            await self._look_after(_LOOK)
        for client in clients:
            await client.wake_channels()
        quiet = await self._wait_until_still(end)
        self._tell("reading what is stored", self._record)
        for client, asking in zip(clients, self._askings, strict=True):
            asking.until = end + _READING
            self._record.stored[client.name] = await _all_stored(asking)
        return quiet

    async def _wait_until_still(self, end: float) -> bool:
        """Everything is matched and sent, and nothing has reached anybody for some seconds."""
        still, before = 0, -1
        async with httpx.AsyncClient(base_url=self._server.url, trust_env=False, timeout=10) as http:
            while still < _STILL:
                if asyncio.get_running_loop().time() > end:
                    return False
                left = await _left_to_do(http)
                self._tell(
                    f"waiting for the rest: {left}" if left else "waiting for nothing more to come", self._record
                )
                record = self._record
                arrived = len(record.delivered) + sum(map(len, (*record.read.values(), *record.streamed.values())))
                still = still + 1 if not left and arrived == before else 0
                before = arrived
                await self._look_after(_LOOK)
        return True

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        return task

    async def _look_after(self, seconds: float) -> None:
        """For so long. What fails unexpectedly in one of the tasks is raised here."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            done, self._tasks = await asyncio.wait(self._tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()


async def _all_stored(asking: Asking) -> list[Seen]:
    """From the first one on; what cannot be read counts as lost."""
    found: list[Seen] = []
    cursor = ""
    with suppress(Refusal, GivenUp):
        while True:
            page = await asking.told("GET", f"/v1/notifications?limit=1000&after={cursor}")
            if not page["items"]:
                break
            found += [seen(one, 0.0) for one in page["items"]]
            cursor = page["next"]
    return found


async def _left_to_do(http: httpx.AsyncClient) -> str:
    """'' where everything is matched and delivered, as far as the service says."""
    told = await ready(http)
    children = [f"{name} {told.get(name, {}).get('state')}" for name in ("pipeline", "outbox")]
    if children != ["pipeline running", "outbox running"]:
        return ", ".join(children)
    if told.get("lag") != 0:
        return f"{told.get('lag')} positions to match"
    try:
        found = _DUE.search((await http.get("/metrics")).text)
    except httpx.TransportError:
        return "figures"
    due = int(float(found[1])) if found else 0
    return f"{due} deliveries" if due else ""


async def _cancel(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end it as Ctrl-C does."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, task.cancel)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
