"""How fast publishing is over HTTP: `python -m tests.service.measure [seconds]`; `scripts/compare-publish COMMIT` runs
it on an older commit beside this one.

The service runs in a process of its own, on SQLite as it is by default, without a pipeline; the load comes from this
process over loopback: 32 connections that each send the next event, then the next hundred, when the last are
answered, then one connection with a stream of lines. A JSON object with all figures is the last line.
"""

import asyncio
import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter

import uvloop

from tests.service.conftest import Service

CONNECTIONS = 32
STREAMED = 200_000
_ACCEPTED = b"HTTP/1.1 20"


def event(number: int) -> dict[str, object]:
    attributes = {"title": f"desk {number}", "price": number % 1000, "category": "desk", "ends": "2030-01-01T10:00:00Z"}
    return {"id": f"{os.getpid()}-{number}", "event_type": "auction", "attributes": attributes}


def processor_seconds(process: int) -> float:
    """Which a busy machine changes less than the time on the clock."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve(folder: str, ready: Connection, end: Connection) -> None:
    service = Service(str(Path(folder) / "tidings.db"))
    service.start()
    ready.send((service.port, service.client.headers["Authorization"]))
    end.recv()
    ready.send(service.store.figures().events)
    service.stop()


@contextmanager
def served() -> Iterator[tuple[int, int, str, Connection, Connection]]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    stop, stopped = context.Pipe()
    with tempfile.TemporaryDirectory() as folder:
        process = context.Process(target=serve, args=(folder, theirs, stopped))
        process.start()
        port, token = ours.recv()
        try:
            yield process.pid or 0, port, token, ours, stop
        finally:
            process.join(30)


async def events_path(port: int, token: str) -> str:
    """Older commits have no prefix."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Length: 0\r\n\r\n".encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    return "/events" if answer.startswith(b"HTTP/1.1 404") else "/v1/events"


async def one_by_one(
    port: int, beginning: str, seconds: float, numbers: Iterator[int], batch: int = 0
) -> tuple[int, list[float]]:
    """How many requests were answered, and the seconds that each took; `batch` events in each, or one by itself."""
    taken: list[float] = []
    end = perf_counter() + seconds
    head = f"{beginning}Content-Type: application/json\r\n"

    async def publisher() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while perf_counter() < end:
            sent = [event(next(numbers)) for _ in range(batch)] if batch else event(next(numbers))
            body = json.dumps(sent).encode()
            began = perf_counter()
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(_ACCEPTED), answer
            length = answer.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
            await reader.readexactly(int(length))
            taken.append(perf_counter() - began)
        writer.close()

    await asyncio.gather(*(publisher() for _ in range(CONNECTIONS)))
    return len(taken), sorted(taken)


async def streamed(port: int, beginning: str, count: int) -> float:
    blocks = []
    for start in range(0, count, 1_000):
        numbers = range(10**9 + start, 10**9 + start + 1_000)
        blocks.append(b"".join(json.dumps(event(number)).encode() + b"\n" for number in numbers))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = perf_counter()
    head = f"{beginning}Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    writer.write(head.encode())
    for block in blocks:
        writer.write(b"%x\r\n%b\r\n" % (len(block), block))
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    answer = await reader.read()
    taken = perf_counter() - began
    assert answer.startswith(_ACCEPTED), answer
    assert f'"accepted":{count}'.encode() in answer, answer
    return taken


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    numbers = iter(range(10**9))
    figures: dict[str, float] = {}
    with served() as (process, port, token, ours, stop), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        path = runner.run(events_path(port, token))
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n"
        runner.run(one_by_one(port, head, 1.0, numbers))  # to warm up
        for name, batch in (("single", 0), ("batches of 100", 100)):
            before, began = processor_seconds(process), perf_counter()
            requests, taken = runner.run(one_by_one(port, head, seconds, numbers, batch))
            lasted, count = perf_counter() - began, requests * (batch or 1)
            cost = (processor_seconds(process) - before) / count
            middle, late = taken[len(taken) // 2] * 1000, taken[len(taken) * 99 // 100] * 1000
            print(f"{name}, {CONNECTIONS} connections: {count / lasted:,.0f} events/s; p50 {middle:.1f} ms,", end=" ")
            print(f"p99 {late:.1f} ms; {cost * 1e6:.0f} µs of a processor each", flush=True)
            figures |= {f"{name}, events/s": round(count / lasted), f"{name}, µs": round(cost * 1e6, 1)}
        before = processor_seconds(process)
        lasted = runner.run(streamed(port, head, STREAMED))
        cost = (processor_seconds(process) - before) / STREAMED
        print(f"stream of lines: {STREAMED / lasted:,.0f} events/s; {cost * 1e6:.0f} µs of a processor each")
        figures |= {"stream, events/s": round(STREAMED / lasted), "stream, µs": round(cost * 1e6, 1)}
        stop.send(None)
        print(f"{ours.recv():,} events in the journal")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
