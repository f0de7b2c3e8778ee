"""Servers of a network as children of the torture, linked to each other on this machine, with ways between them that
can be cut."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from tidings.torture.server import Server

_TOKEN = re.compile(r"The operator's token, shown only once: (\S+)")
QUICK = {"TIDINGS_LINK_REVIVAL_SECONDS": "2", "TIDINGS_REPAIR_SECONDS": "3"}
_LIGHT = {"TIDINGS_PIPELINE": "false", "TIDINGS_OUTBOX": "false", "TIDINGS_XML": "false"}
_PATIENCE = 120.0  # seconds; the machine may be busy


class Site:
    """One server of the network, with its folder, its operator's token, and what its journal has."""

    def __init__(self, name: str, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.name, self.folder = name, folder / name
        self.server = Server(self.folder, {"TIDINGS_NAME": name, **_LIGHT, **QUICK, **(settings or {})})
        self.url = self.server.url
        self._http = httpx.AsyncClient(timeout=60, trust_env=False)

    async def start(self) -> None:
        await self.server.start()
        self.server.look()
        self.token = _TOKEN.findall((self.folder / "serve.log").read_text())[0]

    def kill(self) -> None:
        """The whole server, at once."""
        self.server.end()

    async def stop(self) -> None:
        await self._http.aclose()
        await self.server.stop()

    async def ask(self, method: str, path: str, body: object = None, **query: str) -> Any:
        """The answer's JSON; raises HTTPStatusError."""
        headers = {"authorization": f"Bearer {self.token}"}
        answer = await self._http.request(method, self.url + path, json=body, params=query, headers=headers)
        if not answer.is_success:
            raise httpx.HTTPStatusError(f"{path}: {answer.text}", request=answer.request, response=answer)
        return answer.json() if answer.content else None

    async def publish(self, events: Sequence[Mapping[str, object]]) -> None:
        await self.ask("POST", "/v1/events", list(events))

    async def subscribe(self, filter: str, wait: bool = True) -> dict[str, Any]:
        query = {"wait": "settled"} if wait else {}
        return dict(await self.ask("POST", "/v1/subscriptions", {"filter": filter}, **query))

    async def network(self) -> dict[str, Any]:
        return dict(await self.ask("GET", "/v1/network"))

    async def join(self, other: Site, url: str = "") -> None:
        """Links this site to another one, or to what leads there."""
        invitation = await self.when_up(other)
        await self.ask("POST", "/v1/network/links", {"url": url or other.url, "token": invitation})

    async def when_up(self, other: Site) -> str:
        await other.until_up()
        await self.until_up()
        return str((await other.ask("POST", "/v1/network/invitations"))["token"])

    async def until_up(self) -> None:
        """Until its node answers."""

        async def up() -> bool:
            with suppress(httpx.HTTPError):
                await self.network()
                return True
            return False

        await until(up, f"{self.name} is up")

    def journal(self) -> Counter[tuple[str, str]]:
        """How often each event is in its journal, by source and id."""
        with sqlite3.connect(f"file:{self.folder / 'tidings.db'}?mode=ro", uri=True) as database:
            rows = database.execute("SELECT body FROM journal WHERE kind = 'event'").fetchall()
        bodies = [json.loads(body) for (body,) in rows]
        return Counter((body.get("source", ""), body["id"]) for body in bodies)


async def until(holds: Any, what: str, patience: float = _PATIENCE) -> float:
    """The seconds until it held. Raises TimeoutError."""
    began = time.monotonic()
    while True:
        found = holds()
        if asyncio.iscoroutine(found):
            found = await found
        if found:
            return time.monotonic() - began
        if time.monotonic() - began > patience:
            raise TimeoutError(f"not within {patience:g} s: {what}")
        await asyncio.sleep(0.1)


class Way:
    """A way to a site that can be cut: a port that passes on bytes, or does not."""

    def __init__(self, to: Site) -> None:
        self._to = to
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._is_cut = False
        self.url = ""

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        self._is_cut = True
        for writer in self._open:
            writer.transport.abort()

    def heal(self) -> None:
        self._is_cut = False

    async def stop(self) -> None:
        self.cut()
        if self._server is not None:
            self._server.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            if self._is_cut:
                return
            there, back = await asyncio.open_connection("127.0.0.1", self._to.server.port)
            self._open.add(back)
            await asyncio.gather(_copy(reader, back), _copy(there, writer))
            self._open.discard(back)
        except OSError:
            pass
        finally:
            self._open.discard(writer)
            with suppress(OSError):
                writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()
