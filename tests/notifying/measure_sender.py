"""Webhooks a second of processor time: our `HttpSender`, and httpcore's pool that dials vetted addresses.

python -m tests.notifying.measure_sender [--requests 1500] [--at-once 32] [--rounds 3]
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import httpcore
import httptools
import uvloop

from tidings.notifying.http.addresses import Target
from tidings.notifying.http.sender import HttpSender

_HEADERS = [
    ("webhook-id", "abc"),
    ("webhook-timestamp", "1767225600"),
    ("webhook-signature", f"v1,{'a' * 44}"),
    ("content-type", "application/json"),
    ("ce-id", "abc"),
    ("ce-source", "tidings"),
    ("ce-type", "notification"),
    ("ce-specversion", "1.0"),
]
_BODY = b"x" * 400
_HOST = "receiver.example"


class _Receiver(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        self._transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")


def _receive(listener: socket.socket) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(_Receiver, sock=listener)
        await server.serve_forever()

    uvloop.run(serve())


class _Vetted(httpcore.AsyncNetworkBackend):
    """Dials the address that was checked, whatever the name."""

    def __init__(self) -> None:
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return await self._inner.connect_tcp("127.0.0.1", port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


async def _rate(send: Callable[[], Awaitable[int]], requests: int, at_once: int) -> float:
    left = requests

    async def work() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            assert await send() == 204

    began = time.process_time()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return requests / (time.process_time() - began)


async def ours(port: int, requests: int, at_once: int) -> float:
    sender, target = HttpSender(per_host=at_once), Target("http", _HOST, port, "/hook", ("127.0.0.1",))

    async def send() -> int:
        return (await sender.send(target, "POST", _HEADERS, _BODY)).status

    try:
        return await _rate(send, requests, at_once)
    finally:
        await sender.close()


async def by_httpcore(port: int, requests: int, at_once: int) -> float:
    pool = httpcore.AsyncConnectionPool(max_connections=512, max_keepalive_connections=512, network_backend=_Vetted())
    headers = [(name.encode(), value.encode()) for name, value in _HEADERS]
    seconds = {"timeout": {"connect": 15.0, "read": 15.0, "write": 15.0, "pool": 15.0}}

    async def send() -> int:
        url = f"http://{_HOST}:{port}/hook"
        async with pool.stream("POST", url, headers=headers, content=_BODY, extensions=seconds) as answer:
            async for _ in answer.aiter_stream():
                pass
            return answer.status

    async with pool:
        return await _rate(send, requests, at_once)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1_500)
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    receiver = multiprocessing.Process(target=_receive, args=(listener,), daemon=True)
    receiver.start()
    for _ in range(asked.rounds):
        mine = uvloop.run(ours(listener.getsockname()[1], asked.requests, asked.at_once))
        other = uvloop.run(by_httpcore(listener.getsockname()[1], asked.requests, asked.at_once))
        print(f"ours {mine:,.0f}/s, httpcore {other:,.0f}/s, {other / mine:.2f} of ours", flush=True)
    receiver.terminate()


if __name__ == "__main__":
    main()
