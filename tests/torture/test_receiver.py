"""The receiver notes what it took and what not, and does all that it may do to whoever delivers."""

from __future__ import annotations

import asyncio
import json
import random
import time

import httpx
import pytest

from tidings.notifying.signatures import new_secret, sign
from tidings.torture.receiver import Receiver
from tidings.torture.record import Record


async def deliver(http: httpx.AsyncClient, url: str, number: int, secret: str, is_digest: bool) -> int | None:
    told: dict[str, object] = {"id": f"{number}.s", "subscription": "s"}
    one = told | {"sequence": number, "event": {"id": f"e{number}"}}
    told = told | {"notifications": [one]} if is_digest else one
    body = json.dumps(told).encode()
    timestamp = int(time.time())
    headers = (
        {"ce-type": "tidings.digest"} if is_digest else {"ce-source": "/v1/subscriptions/s", "ce-sequence": str(number)}
    )
    headers |= {
        "webhook-id": str(told["id"]),
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign(secret, str(told["id"]), timestamp, body),
    }
    try:
        return (await http.post(url, content=body, headers=headers)).status_code
    except httpx.HTTPError:
        return None


def receive(calm: bool, count: int, signing: str, known: str, digests: bool = False) -> tuple[Record, list[int | None]]:
    record = Record()

    async def run() -> list[int | None]:
        async with (
            Receiver(record, random.Random(1)) as receiver,
            httpx.AsyncClient(trust_env=False, timeout=httpx.Timeout(60, read=3)) as http,
        ):
            receiver.calm = calm
            url = receiver.url("hook")
            numbers = range(1, count + 1)
            statuses = await asyncio.gather(*(deliver(http, url, number, signing, digests) for number in numbers))
            receiver.secrets["s"] = [known]
            receiver.verify_rest()
            return list(statuses)

    return record, asyncio.run(run())


def test_in_calm_everything_is_taken() -> None:
    secret = new_secret()
    record, statuses = receive(True, 30, secret, secret)
    assert statuses == [200] * 30
    assert sorted(one.sequence for one in record.delivered) == list(range(1, 31))
    assert all(one.taken and one.id == f"{one.sequence}.s" for one in record.delivered)
    assert record.unsigned == 0


def test_else_it_does_all_sorts_of_things() -> None:
    secret = new_secret()
    record, statuses = receive(False, 300, secret, secret)
    assert {200, 204, 301, 429, 500, 503, None} <= set(statuses)
    assert {"reset", "reset unread", "too short", "too long", "slow"} <= set(record.answers)
    assert {sequence for _, sequence in record.tried} == set(range(1, 301))
    taken = {one.sequence for one in record.delivered if one.taken}
    refused = {number for number, status in enumerate(statuses, 1) if status is not None and status >= 300}
    assert taken
    assert refused
    assert not taken & refused
    assert {number for number, status in enumerate(statuses, 1) if status in (200, 204)} <= taken


@pytest.mark.slow
def test_a_digest_is_noted_as_tried_whatever_it_does() -> None:
    """Else its retry would count as out of order, when later ones have come meanwhile."""
    secret = new_secret()
    record, _ = receive(False, 300, secret, secret, digests=True)
    assert {sequence for _, sequence in record.tried} == set(range(1, 301))
    assert record.answers["reset"] > 3


def test_another_secret_is_noticed() -> None:
    record, _ = receive(True, 5, new_secret(), new_secret())
    assert record.unsigned == 5
