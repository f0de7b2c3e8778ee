"""How long from POST /v1/events to a server-sent event on the embedded default, and what 500 open streams cost.

    python -m tests.service.measure_streams [--events 200] [--rate 5] [--streams 500] [--notifications 10000]

Publisher and readers are in this process, the service in another, all on loopback. For the memory, the streams belong
to as many accounts as the limit for one account asks for; every account has one subscription that matches everything.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import threading
import time
from datetime import datetime
from http.client import HTTPConnection
from pathlib import Path

from tests.service.event_source import EventSource
from tests.service.measure_latency import quantile
from tests.service.numbers import between, describe, register, sample
from tests.service.served import Served

_WARM_UP = 20  # events
_PER_ACCOUNT = 100  # streams


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--events", type=int, default=200)
    arguments.add_argument("--rate", type=float, default=5.0, help="a second")
    arguments.add_argument("--streams", type=int, default=500)
    arguments.add_argument("--notifications", type=int, default=10_000)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, Served(Path(folder)) as served:
        tokens = [register(served, f"user{number}") for number in range(-(-chosen.streams // _PER_ACCOUNT))]
        describe(served, tokens[0])
        for token in tokens:
            assert served.ask("POST", "/v1/subscriptions", {"filter": between(0, 10)}, token)[0] == 201
        served.wait_until_running()
        whole, last_part = measure_latencies(served, tokens[0], chosen.events, chosen.rate)
        print(f"seconds from publish to server-sent event, {len(whole)} events at {chosen.rate:g}/s: {_shown(whole)}")
        print(f"of that, after the pipeline began to store the notification: {_shown(last_part)}")
        asyncio.run(measure_memory(served, tokens, chosen.streams, chosen.notifications))
        assert served.stop() == 0


def measure_latencies(served: Served, token: str, events: int, rate: float) -> tuple[list[float], list[float]]:
    """From publishing on, and from `matched_at` on. The first few do not count."""
    sent: dict[str, float] = {}
    stored: dict[str, float] = {}
    seen: dict[str, float] = {}

    def read() -> None:
        with EventSource(served.port, token, after="now") as source:
            opened.set()
            for message in source:
                seen[message.name] = time.monotonic()
                stored[message.name] = time.time() - datetime.fromisoformat(message.data["matched_at"]).timestamp()
                if len(seen) == _WARM_UP + events:
                    return

    opened = threading.Event()
    reader = threading.Thread(target=read)
    reader.start()
    assert opened.wait(30)
    begin = time.monotonic()
    for number in range(_WARM_UP + events):
        if number == 1:  # the first batch compiles what it needs
            while not seen:
                time.sleep(0.05)
            begin = time.monotonic()
        time.sleep(max(0.0, begin + number / rate - time.monotonic()))
        id = f"latency-{number}"
        sent[id] = time.monotonic()
        assert served.ask("POST", "/v1/events", sample(id, 5), token)[0] == 202
    reader.join()
    counted = list(sent)[_WARM_UP:]
    return sorted(seen[id] - sent[id] for id in counted), sorted(stored[id] for id in counted)


def _shown(ordered: list[float]) -> str:
    return ", ".join(f"p{part} {quantile(ordered, part / 100):.3f}" for part in (50, 90, 99))


async def measure_memory(served: Served, tokens: list[str], streams: int, notifications: int) -> None:
    counts = [0] * streams
    opened = asyncio.Semaphore(0)
    readers = [
        asyncio.create_task(_count(served.port, tokens[number // _PER_ACCOUNT], counts, number, opened))
        for number in range(streams)
    ]
    for _ in readers:
        await opened.acquire()
    events = -(-notifications // len(tokens))
    await _publish_and_wait(served, tokens[0], counts, "warm", events // 10)
    before = _memory(served.process.pid)
    began = time.monotonic()
    await _publish_and_wait(served, tokens[0], counts, "measured", events)
    seconds = time.monotonic() - began
    after = _memory(served.process.pid)
    made, sent = f"{events * len(tokens):,} notifications", f"{events * streams:,} sent in {seconds:.1f} s"
    print(f"{streams} open streams, {made}, {sent}: the gateway had {before:.0f} MB before and {after:.0f} MB after")
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


async def _publish_and_wait(served: Served, token: str, counts: list[int], name: str, events: int) -> None:
    wanted = [one + events for one in counts]
    await asyncio.to_thread(_publish, served.port, token, name, events)
    while counts != wanted:
        assert all(one <= most for one, most in zip(counts, wanted, strict=True))
        await asyncio.sleep(0.05)


def _publish(port: int, token: str, name: str, events: int) -> None:
    body = b"".join(json.dumps(sample(f"{name}-{n}", 5)).encode() + b"\n" for n in range(events))
    connection = HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"}
    connection.request("POST", "/v1/events", body, headers)
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["accepted"]) == (202, events)
    connection.close()


async def _count(port: int, token: str, counts: list[int], number: int, opened: asyncio.Semaphore) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = (
        f"GET /v1/notifications/stream?after=now HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    )
    writer.write(head.encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    opened.release()
    rest = b""
    try:
        while data := await reader.read(1 << 16):
            rest += data
            end = rest.rfind(b"\n") + 1
            counts[number] += rest[:end].count(b"event: notification\n")
            rest = rest[end:]
    finally:
        writer.close()


def _memory(process: int) -> float:
    """Megabytes that the process has in memory (Linux)."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


if __name__ == "__main__":
    main()
