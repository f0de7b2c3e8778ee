"""A running XML daemon with a store of its own, and a client that speaks to it over a real socket."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import uvloop
from lxml import etree

from tests.service.example_store import open_example_store
from tests.store.batches import commit_batch
from tidings.schema import Instant
from tidings.service import Gateway
from tidings.service.door.callers import digest_of, new_token
from tidings.service.xml.daemon import XmlDaemon
from tidings.service.xml.framing import Document
from tidings.service.xml.validity import Validity, parse
from tidings.settings import Settings
from tidings.store import Store
from tidings.store.accounts.accounts import Account, Token

SETTINGS = Settings(pipeline=False, guest_requests_per_second=100_000, requests_per_second=1_000_000)
ALL = frozenset({"publish", "subscribe", "schema"})
CAR = (
    '<PUBLISH_EVENT contact="sbile@hotmail.com" token="{token}"{more}><EVENT_TYPE><VALUE type="car"/></EVENT_TYPE>'
    '<ATTRIBUTES><ATTR type="brand">opel</ATTR><ATTR type="year">1970</ATTR></ATTRIBUTES></PUBLISH_EVENT>'
)


class Client:
    """One connection. Answers are read a line at a time."""

    def __init__(self, port: int, timeout: float = 30.0) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self._read = self.socket.makefile("rb")

    def send(self, text: str | bytes) -> None:
        self.socket.sendall(text.encode() if isinstance(text, str) else text)

    def answer(self) -> Any:
        """None when the daemon has closed the connection."""
        try:
            line = self._read.readline()
        except ConnectionResetError:
            return None
        return etree.fromstring(line) if line else None

    def ask(self, text: str | bytes) -> Any:
        self.send(text)
        answer = self.answer()
        assert answer is not None, "closed without an answer"
        return answer

    def close(self) -> None:
        self._read.close()
        self.socket.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass
class Served:
    store: Store
    settings: Settings
    certificate: ssl.SSLContext | None = None
    clients: list[Client] = field(default_factory=list)
    daemon: XmlDaemon = field(init=False)
    gateway: Gateway = field(init=False)
    loop: asyncio.AbstractEventLoop = field(init=False)
    port: int = field(init=False)

    def start(self) -> None:
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), name="tests-xml")
        self._thread.start()
        assert started.wait(120)

    def _run(self, started: threading.Event) -> None:
        async def serving() -> None:
            self.loop = asyncio.get_running_loop()
            self._stop = asyncio.Event()
            self.gateway = Gateway(self.store, self.settings)
            self.daemon = XmlDaemon(self.gateway)
            await self.daemon.start("127.0.0.1", 0, self.certificate)
            self.port = self.daemon.port
            started.set()
            await self._stop.wait()
            await self.daemon.close()
            await self.gateway.close()

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serving())

    def stop_soon(self) -> None:
        self.loop.call_soon_threadsafe(self._stop.set)

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        if self._thread.is_alive():
            self.stop_soon()
            self._thread.join(120)
        assert not self._thread.is_alive()

    def client(self, timeout: float = 30.0) -> Client:
        made = Client(self.port, timeout)
        self.clients.append(made)
        return made

    def join(self, username: str, scopes: frozenset[str] = ALL) -> str:
        """The token of a new account."""
        token = new_token()
        self.store.add_account(Account(username, "", scopes, Instant(0)))
        self.store.add_token(Token(digest_of(token), username, "token", "", scopes, Instant(0), None))
        return token

    def commit(self, matches: list[tuple[int, list[str]]]) -> None:
        """What the pipeline would store: for each position the ids of the subscriptions that match."""
        schema = pa.schema({"position": pa.int64(), "subscriptions": pa.list_(pa.string())})
        table = pa.table([[one for one, _ in matches], [ids for _, ids in matches]], schema=schema)
        commit_batch(self.store, self.store.committed() + 1, self.store.tail(), table)


@contextmanager
def served(
    url: str, settings: Settings = SETTINGS, certificate: ssl.SSLContext | None = None, **different: Any
) -> Iterator[Served]:
    """`different` are settings."""
    with open_example_store(url) as store:
        running = Served(store, replace(settings, **different), certificate)
        running.start()
        try:
            yield running
        finally:
            running.stop()


class Speaker:
    """A connection of somebody with a token. Every request that is accepted must be valid by its DTD."""

    def __init__(self, daemon: Served, username: str, scopes: frozenset[str] = ALL) -> None:
        self.daemon = daemon
        self.username = username
        self.token = daemon.join(username, scopes)
        self.client = daemon.client()

    def ask(self, text: str) -> Any:
        text = text.replace("{token}", self.token)
        validity = Validity(self.daemon.store.catalog())
        answer = self.client.ask(text)
        if answer.tag != "ERROR":
            assert validity.problem(parse(Document(text.encode(), "utf-8")), beside=True) is None
        return answer

    def ok(self, text: str) -> dict[str, str]:
        answer = self.ask(text)
        assert answer.tag == "OK", answer.text
        return dict(answer.attrib)

    def refused(self, text: str) -> str:
        answer = self.ask(text)
        assert answer.tag == "ERROR"
        assert answer.text
        return str(answer.get("name"))


def posted(ann: Speaker, content: str) -> str:
    return ann.ok(f'<PUBLISH_SUB username="{ann.username}" token="{{token}}">{content}</PUBLISH_SUB>')["id"]


CARS = (
    '<EVENT_TYPE><VALUE type="car" oper="contains"/></EVENT_TYPE>'
    '<ATTRIBUTES><ATTR type="year" oper="gteq">1960</ATTR><ATTR type="brand" oper="eq">opel</ATTR></ATTRIBUTES>'
)
