"""What refused events and unfinished lines keep in memory is bounded."""

import asyncio
import json

import pytest
from starlette.types import Message

from tests.service.conftest import Service, lines, on_sqlite
from tidings.service.door.in_flight import BoundedBody, InFlight, TooManyBytes
from tidings.settings import Settings

KIB, MIB = 1 << 10, 1 << 20


@on_sqlite
@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/json"])
def test_long_names_in_refused_events_take_little_memory(service: Service, kind: str) -> None:
    """Errors had whole names: twice the bytes of the events were kept, and answered with."""
    some = [{"id": f"e{place}", "event_type": "car", "x" * 50_000: "y" * 50_000} for place in range(100)]
    some += [{"id": f"f{place}", "event_type": "car", **dict.fromkeys(map(str, range(90)))} for place in range(900)]
    body = json.dumps(some).encode() if kind.endswith("/json") else lines(*some)
    answer = service.client.post("/v1/events", content=body, headers={"Content-Type": kind})
    results = answer.json()["results"]
    assert len(results) == 1_000
    told = [one for one in results if "errors" in one]
    assert 100 < len(told) < 1_000
    assert told[0]["errors"][0]["value"] == "y" * 200 + "…"
    assert len(answer.content) < 2 * MIB


def test_unfinished_lines_are_bytes_in_flight() -> None:
    """An account's thousand connections held 256 KiB each."""
    in_flight = InFlight(Settings(bytes_in_flight=4 * MIB))

    async def feed(*some: bytes) -> BoundedBody:
        waiting = iter(some)

        async def receive() -> Message:
            return {"type": "http.request", "body": next(waiting), "more_body": True}

        body = BoundedBody(receive, 1 << 30, None, 256 * KIB)
        body.count_in(in_flight, "ann", False)
        for _ in some:
            await body()
        return body

    async def run() -> None:
        held = [await feed(b"x" * 200 * KIB, b"y" * 40 * KIB) for _ in range(4)]
        with pytest.raises(TooManyBytes):
            await feed(b"x" * 200 * KIB)
        await feed(b"x" * 200 * KIB + b"\n" + b"y" * KIB)  # a complete line is soon appended
        await feed(b"x" * 300 * KIB)  # this one is passed over
        held.pop().end()
        held.append(await feed(b"x" * 50 * KIB, b"x" * 50 * KIB + b"\n" + b"y" * 100 * KIB, b"x" * 100 * KIB))
        with pytest.raises(TooManyBytes):
            await feed(b"x" * 200 * KIB)

    asyncio.run(run())
