"""How many webhooks a second reach a fast receiver, and how long after the event was published.

    python -m tests.service.measure_webhooks [--events 40000] [--rate 50] [--few 500]

A real `tidings serve` with its pipeline and its outbox; one subscription sends all events to a receiver in a process of
its own, another to an endpoint that takes connections and never answers. First a few events at a rate, for the time
that one takes; then many as fast as they are taken, for how many go through. Everything must have arrived exactly once,
and the signatures of a sample must be right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import socket
import tempfile
import time
from collections import Counter
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, ClassVar

import httptools
import uvloop

from tests.service.measure_latency import quantile
from tests.service.numbers import between, describe, register, sample
from tests.service.served import Served
from tidings.notifying.signatures import verify

_CHUNK = 1_000  # lines of one request
_SAMPLED = 50  # of so many, one is kept whole
_PATIENCE = 600.0  # seconds without anything new
_Seen = tuple[float, str, str]  # when it came, its id, its event's id


class Recorder(asyncio.Protocol):
    """Answers 204 to every POST and remembers it; GET /count and GET /seen say what it remembers."""

    seen: ClassVar[list[_Seen]] = []
    kept: ClassVar[list[tuple[float, dict[str, str], str]]] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.parser: Any = httptools.HttpRequestParser(self)
        self.on_message_begin()

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_begin(self) -> None:
        self.url, self.headers, self.body = b"", {}, b""

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode().lower()] = value.decode()

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        if self.parser.get_method() == b"POST":
            event = json.loads(self.body)["event"]["id"]
            self.seen.append((time.time(), self.headers["webhook-id"], event))
            if len(self.seen) % _SAMPLED == 0:
                self.kept.append((time.time(), self.headers, self.body.decode()))
            self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            return
        said: object = len(self.seen) if self.url == b"/count" else [self.seen, self.kept]
        body = json.dumps(said).encode()
        self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


def receive(listening: socket.socket) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(Recorder, sock=listening)
        await server.serve_forever()

    uvloop.run(serve())


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--events", type=int, default=40_000)
    arguments.add_argument("--few", type=int, default=500, help="events at a rate")
    arguments.add_argument("--rate", type=float, default=50.0, help="a second")
    chosen = arguments.parse_args()
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    hanging = socket.create_server(("127.0.0.1", 0), backlog=1024)
    receiver = multiprocessing.get_context("fork").Process(target=receive, args=(listening,), daemon=True)
    receiver.start()
    free = {"TIDINGS_WEBHOOK_HANDSHAKE": "none", "TIDINGS_ALLOW_LOOPBACK_WEBHOOKS": "true"}
    print("load of this machine before: {:.1f}, {:.1f}, {:.1f}".format(*os.getloadavg()))
    try:
        with tempfile.TemporaryDirectory() as folder, Served(Path(folder), **free) as served:
            measure(served, listening.getsockname()[1], hanging.getsockname()[1], chosen)
            assert served.stop() == 0
    finally:
        receiver.terminate()
        receiver.join()
    print("load of this machine after: {:.1f}, {:.1f}, {:.1f}".format(*os.getloadavg()))


def measure(served: Served, port: int, hanging: int, chosen: argparse.Namespace) -> None:
    token = register(served, "ann")
    describe(served, token)
    secret = subscribe(served, token, port)["secret"]
    stuck = subscribe(served, token, hanging)["id"]
    served.wait_until_running()
    sent: dict[str, float] = {}
    publish(served, token, "warm", _CHUNK, 0, sent)  # the first batch compiles what it needs
    wait_for(port, _CHUNK)
    publish(served, token, "few", chosen.few, chosen.rate, sent)
    wait_for(port, _CHUNK + chosen.few)
    publish(served, token, "many", chosen.events, 0, sent)
    wait_for(port, _CHUNK + chosen.few + chosen.events)
    seen, kept = ask_receiver(port, "/seen")
    times = Counter(event for _, _, event in seen)
    assert times == Counter(sent.keys()), "not every event arrived exactly once"
    assert len({id for _, id, _ in seen}) == len(sent)
    for received, headers, body in kept:
        verify(headers, body.encode(), [secret], now=received)
    print(f"{len(sent):,} events arrived exactly once; {len(kept)} signatures were looked at, all are right")
    taken = {event: received - sent[event] for received, _, event in seen}
    print(f"publish to receipt, {chosen.few} events at {chosen.rate:g}/s: {shown(taken, 'few')}")
    print(f"publish to receipt, {chosen.events:,} events at once: {shown(taken, 'many')}")
    moments = sorted(received for received, _, event in seen if event.startswith("many"))
    first, last = len(moments) // 10, len(moments) * 9 // 10
    rate = (last - first) / (moments[last] - moments[first])
    print(f"{rate:,.0f} deliveries/s, from the first tenth to the last")
    print(f"the one that hangs: {standing(served, token, stuck)}")


def subscribe(served: Served, token: str, port: int) -> dict[str, Any]:
    channel = {"kind": "webhook", "url": f"http://127.0.0.1:{port}/hook"}
    body = {"filter": between(0, 1_000_000), "channel": channel}
    status, answer = served.ask("POST", "/v1/subscriptions", body, token)
    assert status == 201, answer
    made: dict[str, Any] = answer
    return made


def publish(served: Served, token: str, name: str, events: int, rate: float, sent: dict[str, float]) -> None:
    """In order; `sent` gets when each was handed over. Without a rate a request has many."""
    connection = HTTPConnection("127.0.0.1", served.port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"}
    step = 1 if rate else _CHUNK
    begin = time.monotonic()
    for first in range(0, events, step):
        ids = [f"{name}-{number}" for number in range(first, min(first + step, events))]
        lines = "".join(json.dumps(sample(id, 5)) + "\n" for id in ids)
        if rate:
            time.sleep(max(0.0, begin + first / rate - time.monotonic()))
        moment = time.time()
        sent.update((id, moment) for id in ids)
        connection.request("POST", "/v1/events", lines, headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 202, text
    connection.close()


def wait_for(port: int, count: int) -> None:
    before, moved = 0, time.monotonic()
    while (now := ask_receiver(port, "/count")) < count:
        if now != before:
            before, moved = now, time.monotonic()
        assert time.monotonic() - moved < _PATIENCE, (now, count)
        time.sleep(0.2)


def ask_receiver(port: int, path: str) -> Any:
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("GET", path)
    found = json.loads(connection.getresponse().read())
    connection.close()
    return found


def shown(taken: dict[str, float], name: str) -> str:
    ordered = sorted(seconds for event, seconds in taken.items() if event.startswith(name))
    return ", ".join(f"p{part} {quantile(ordered, part / 100):.3f} s" for part in (50, 99))


def standing(served: Served, token: str, id: str) -> str:
    _, channel = served.ask("GET", f"/v1/subscriptions/{id}/channel", None, token)
    states: Counter[str] = Counter()
    after = ""
    while after is not None:
        _, page = served.ask("GET", f"/v1/subscriptions/{id}/deliveries?limit=1000&after={after}", None, token)
        states.update(f"{one['state']} after {one['attempts']}" for one in page["items"])
        after = page["next"]
    counts = ", ".join(f"{count:,} {state} attempts" for state, count in sorted(states.items()))
    return f"its channel is {channel['state']} ({channel['problem'] or 'no attempt is over'}); {counts}"


if __name__ == "__main__":
    main()
