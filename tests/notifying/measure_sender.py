"""How many requests a second one process sends to a fast receiver in another.

    python -m tests.notifying.measure_sender

The sender alone, then the whole webhook channel (body, signature, vetting), then the channel while one host hangs. On a
busy machine the processor's time each is the better figure.
"""

import asyncio
import multiprocessing
import socket
import time
from collections.abc import Awaitable, Callable

import httptools
import uvloop

from tidings.notifying.channels.webhook import WebhookChannel
from tidings.notifying.delivery import OutgoingDelivery, Owed
from tidings.notifying.http.addresses import Target
from tidings.notifying.http.sender import HttpSender
from tidings.notifying.signatures import new_secret
from tidings.schema import Instant

SECONDS = 4.0
AT_ONCE = 32
BODY = b'{"id": "n1", "event": {"id": "e1", "attributes": {"price": 900}}}' + b" " * 400


class Fast(asyncio.Protocol):
    """Answers 204 to whatever is a whole request."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")  # type: ignore[attr-defined]


def receive(listening: socket.socket) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(Fast, sock=listening)
        await server.serve_forever()

    uvloop.run(serve())


async def rate(send: Callable[[], Awaitable[None]]) -> str:
    sent = 0
    until = time.perf_counter() + SECONDS

    async def one() -> None:
        nonlocal sent
        while time.perf_counter() < until:
            await send()
            sent += 1

    began, spent = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one() for _ in range(AT_ONCE)))
    seconds, spent = time.perf_counter() - began, time.process_time() - spent
    return f"{sent / seconds:8,.0f} requests/s, {spent / sent * 1e6:4.0f} µs of this process each"


async def measure(port: int, hanging: int) -> None:
    sender = HttpSender(per_host=AT_ONCE)
    target = Target("http", "127.0.0.1", port, "/hook", ("127.0.0.1",))
    headers = [("content-type", "application/json"), ("webhook-id", "n1")]

    async def plain() -> None:
        assert (await sender.send(target, "POST", headers, BODY)).status == 204

    channel = WebhookChannel(sender, allow_loopback=True)
    settings = {"url": target.url, "secrets": [new_secret()]}
    event = {"id": "e1", "event_type": ["car"], "attributes": {"price": 900, "brand": "mini", "note": "x" * 200}}
    delivery = OutgoingDelivery("n1", "s1", "ann", "price < 1000", (Owed("n1", 1, event, Instant(0)),))

    async def whole() -> None:
        attempt = await channel.send(delivery, settings, Instant(0))
        assert attempt.ok, attempt.problem

    print(f"sender alone        {await rate(plain)}")
    print(f"webhook channel     {await rate(whole)}")
    stuck = [
        asyncio.create_task(channel.send(delivery, {**settings, "url": f"http://127.0.0.1:{hanging}/"}, Instant(0)))
        for _ in range(200)
    ]
    print(f"while one host hangs{await rate(whole)}")
    for task in stuck:
        task.cancel()
    await asyncio.gather(*stuck, return_exceptions=True)
    await sender.close()


def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    hanging = socket.create_server(("127.0.0.1", 0), backlog=1024)
    receiver = multiprocessing.get_context("fork").Process(target=receive, args=(listening,), daemon=True)
    receiver.start()
    ports = listening.getsockname()[1], hanging.getsockname()[1]
    try:
        for name, run in (("uvloop", uvloop.run), ("asyncio", asyncio.run)):
            print(f"{name}, {AT_ONCE} at once")
            run(measure(*ports))
    finally:
        receiver.terminate()
        receiver.join()


if __name__ == "__main__":
    main()
