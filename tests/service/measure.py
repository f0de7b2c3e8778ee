"""How fast `POST /events` is: `python -m tests.service.measure [seconds]`.

The service runs in a process of its own, on SQLite as it is by default, without a pipeline; the load comes from this
process over loopback: 32 connections that each send the next event when the last is answered, then one connection
with a stream of lines.
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
_BEGINNING = b"HTTP/1.1 202"


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


async def one_by_one(port: int, token: str, seconds: float, numbers: Iterator[int]) -> tuple[int, list[float]]:
    taken: list[float] = []
    end = perf_counter() + seconds

    async def publisher() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST /events HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Type: application/json\r\n"
        while perf_counter() < end:
            body = json.dumps(event(next(numbers))).encode()
            began = perf_counter()
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            assert answer.startswith(_BEGINNING), answer
            length = answer.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
            await reader.readexactly(int(length))
            taken.append(perf_counter() - began)
        writer.close()

    await asyncio.gather(*(publisher() for _ in range(CONNECTIONS)))
    return len(taken), sorted(taken)


async def streamed(port: int, token: str, count: int) -> float:
    blocks = []
    for start in range(0, count, 1_000):
        numbers = range(10**9 + start, 10**9 + start + 1_000)
        blocks.append(b"".join(json.dumps(event(number)).encode() + b"\n" for number in numbers))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = perf_counter()
    head = f"POST /events HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Type: application/x-ndjson\r\n"
    writer.write(f"{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode())
    for block in blocks:
        writer.write(b"%x\r\n%b\r\n" % (len(block), block))
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    answer = await reader.read()
    taken = perf_counter() - began
    assert answer.startswith(_BEGINNING), answer
    assert f'"accepted":{count}'.encode() in answer, answer
    return taken


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    numbers = iter(range(10**9))
    with served() as (process, port, token, ours, stop), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(one_by_one(port, token, 1.0, numbers))  # to warm up
        before, began = processor_seconds(process), perf_counter()
        count, taken = runner.run(one_by_one(port, token, seconds, numbers))
        rate, cost = count / (perf_counter() - began), (processor_seconds(process) - before) / count
        middle, late = taken[len(taken) // 2] * 1000, taken[len(taken) * 99 // 100] * 1000
        print(f"one by one, {CONNECTIONS} connections: {rate:,.0f}/s; p50 {middle:.1f} ms, p99 {late:.1f} ms;", end=" ")
        print(f"{cost * 1e6:.0f} µs of a processor each")
        before = processor_seconds(process)
        lasted = runner.run(streamed(port, token, STREAMED))
        cost = (processor_seconds(process) - before) / STREAMED
        print(f"as a stream of lines: {STREAMED / lasted:,.0f} events/s; {cost * 1e6:.0f} µs of a processor each")
        stop.send(None)
        print(f"{ours.recv():,} events in the journal")


if __name__ == "__main__":
    main()
