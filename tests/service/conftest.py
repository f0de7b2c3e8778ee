"""A running service: the real application in a real uvicorn on a free loopback port, with a store of its own.

`service` runs on SQLite and on PostgreSQL; a test to which the database does not matter says so by
`@on_sqlite`. Its client has the token of a registered user; `service.join("ann")` gives another one.
"""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
import uvloop
from argon2 import PasswordHasher
from fastapi import FastAPI

from tests.service.example_store import open_example_store
from tests.service.xml_served import Served, Speaker, served
from tests.services.postgresql import Server, postgresql
from tests.services.warm_worker import start_forked
from tests.store.batches import commit_batch
from tidings.service import Gateway
from tidings.service.door.slow_peers import patient_protocol
from tidings.service.http import make_app
from tidings.settings import Settings
from tidings.store import Store

PASSWORD = "correct horse battery staple"
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)  # the usual one takes 0.2 s of a processor each time
SETTINGS = Settings(pipeline=False, guest_requests_per_second=100_000, showcase=True)

on_sqlite = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


class PromptServer(uvicorn.Server):
    """Stops when it is told to, not when it next looks whether it was."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._told = asyncio.Event()

    def stop(self) -> None:
        self.should_exit = True
        self._told.set()

    async def main_loop(self) -> None:
        ticks = count()
        while not await self.on_tick(next(ticks)):
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await self._told.wait()


@dataclass
class Service:
    """`run` it with what differs from the usual settings; `stop` is done by the fixture."""

    store_url: str
    settings: Settings = SETTINGS
    store: Store = field(init=False)
    gateway: Gateway = field(init=False)
    app: FastAPI = field(init=False)
    loop: asyncio.AbstractEventLoop = field(init=False)
    port: int = field(init=False)
    clients: list[httpx.Client] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.store = open_example_store(self.store_url)
        listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self.port = listening.getsockname()[1]
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listening, started), name="tests-service")
        self._thread.start()
        assert started.wait(120)
        self.client = self.joined("tester")

    def _run(self, listening: socket.socket, started: threading.Event) -> None:
        async def serving() -> None:
            self.loop = asyncio.get_running_loop()
            self.gateway = Gateway(self.store, self.settings)
            self.app = make_app(self.gateway)
            self.app.state.accounts.passwords.hasher = CHEAP
            self.app.state.questions.start_worker = start_forked
            config = uvicorn.Config(
                self.app,
                http=patient_protocol(self.settings),
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=5,
            )
            self._server = PromptServer(config)
            started.set()
            await self._server.serve(sockets=[listening])
            await self.gateway.close()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serving())

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        asyncio.run_coroutine_threadsafe(self.app.state.streams.close(), self.loop).result(120)
        self.loop.call_soon_threadsafe(self._server.stop)
        self._thread.join(120)
        assert not self._thread.is_alive()
        self.store.close()

    def anonymous(self) -> httpx.Client:
        client = httpx.Client(base_url=self.address, timeout=60, verify=False)  # no certificates are read: 30 ms
        self.clients.append(client)
        return client

    def joined(self, username: str) -> httpx.Client:
        """A client with the token of a new account."""
        client = self.anonymous()
        answer = client.post("/v1/accounts", json={"username": username, "password": PASSWORD})
        assert answer.status_code == 201, answer.text
        client.headers["Authorization"] = f"Bearer {answer.json()['token']}"
        return client

    def commit(self, first: int, last: int, matches: list[tuple[int, list[str]]]) -> None:
        """What the pipeline would store: for each position the ids of the subscriptions that match."""
        import pyarrow as pa

        positions, subscriptions = [one for one, _ in matches], [ids for _, ids in matches]
        schema = pa.schema({"position": pa.int64(), "subscriptions": pa.list_(pa.string())})
        commit_batch(self.store, first, last, pa.table([positions, subscriptions], schema=schema))


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with postgresql() as running:
        yield running


# The store's own tests run on both databases in the quick suite; these do so in the slow one.
@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a store may be made; in PostgreSQL it is there, and empty."""
    if request.param == "sqlite":
        yield str(tmp_path / "tidings.db")
        return
    server: Server = request.getfixturevalue("server")
    database = server.store()
    yield database
    server.recycle(database)


@pytest.fixture
def settings() -> Settings:
    """A test module or class may override this."""
    return SETTINGS


@pytest.fixture
def service(url: str, settings: Settings, tmp_path: Path) -> Iterator[Service]:
    running = Service(url, replace(settings, store=url, data=tmp_path))
    running.start()
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def client(service: Service) -> httpx.Client:
    """Of the registered user 'tester'."""
    return service.client


@pytest.fixture
def daemon(url: str) -> Iterator[Served]:
    with served(url) as running:
        yield running


@pytest.fixture
def ann(daemon: Served) -> Speaker:
    return Speaker(daemon, "ann")


def car(id: str | None = "e1", **more: Any) -> dict[str, Any]:
    """A valid raw event of examples/schema.json."""
    event: dict[str, Any] = {"event_type": "car", "attributes": {"brand": "mini", "year": 1990}}
    event["attributes"] |= more
    return event if id is None else {"id": id, **event}


def lines(*events: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)
