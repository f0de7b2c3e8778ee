"""Live streams and deliveries from Python; the pipeline's part is done by `match_all`."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from tests.client.conftest import QUICK
from tests.client.matched import match_all
from tests.client.peers import Relay, answer, peer
from tests.service.conftest import SETTINGS, Service, car
from tests.service.delivering import send
from tests.service.receiver import Receiver, receiver
from tidings.client import AsyncClient, Client, NotFound, Notification, ServerRefused
from tidings.client.event_source import EventSource, Message
from tidings.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(SETTINGS, data=tmp_path, allow_loopback_webhooks=True)


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


def names(found: list[Notification]) -> list[str]:
    return [one.event["id"] for one in found if one.event is not None]


def test_a_stream_begins_now_and_follow_at_the_first(service: Service, ann: Client) -> None:
    ann.subscribe("year > 0")
    ann.publish(car("e0"))
    match_all(service.store)
    assert names(list(islice(ann.follow(), 1))) == ["e0"]
    found: list[Notification] = []
    reader = threading.Thread(target=lambda: found.extend(islice(ann.stream(), 2)))
    reader.start()
    while service.app.state.streams.count == 0:
        reader.join(0.01)
    ann.publish([car("e1"), car("e2")])
    match_all(service.store)
    reader.join(120)
    assert names(found) == ["e1", "e2"]
    assert names(list(islice(ann.stream(found[0].resume or ""), 1))) == ["e2"]


def test_a_stream_that_begins_now_misses_nothing_over_a_broken_line(service: Service, ann: Client) -> None:
    ann.subscribe("year > 0")
    relay = Relay(service.port)
    found: list[Notification] = []
    with Client(relay.url, ann.token, patience=QUICK) as client:
        reader = threading.Thread(target=lambda: found.extend(islice(client.stream(), 1)))
        reader.start()
        while service.app.state.streams.count == 0:
            reader.join(0.01)
        reader.join(0.3)  # its first line has come: it knows where it began
        relay.cut()
        ann.publish(car("e0"))
        match_all(service.store)
        relay.mend()
        reader.join(120)
    relay.cut()
    assert names(found) == ["e0"]


def test_in_an_event_loop(service: Service, ann: Client) -> None:
    ann.subscribe("year > 0")
    ann.publish([car("e0"), car("e1")])
    match_all(service.store)

    async def read() -> list[Notification]:
        found = []
        async with AsyncClient(service.address, ann.token, patience=QUICK) as client:
            following = client.follow()
            async for one in following:
                found.append(one)
                if len(found) == 2:
                    break
            await following.aclose()  # type: ignore[attr-defined]
            with pytest.raises(NotFound):
                await anext(client.stream(subscription="s-nobody"))
        return found

    assert names(asyncio.run(read())) == ["e0", "e1"]


def test_a_server_that_has_no_room_is_asked_again() -> None:
    body = b'{"id":"1.s","subscription":"s","event":null,"matched_at":"2026-01-01T00:00:00Z"}'
    full = answer("503 Service Unavailable", b"{}", "retry-after: 0")
    stream = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    stream += b"retry: 1\n\nid: 7\nevent: notification\ndata: " + body + b"\n\n"
    with peer(full, b"", stream) as server, Client(server.url, patience=QUICK) as client:
        assert next(client.follow()) == Notification("1.s", "s", None, "2026-01-01T00:00:00Z")


def test_what_is_refused_is_raised() -> None:
    refused = answer("422 Unprocessable Entity", b'{"detail": "no cursor"}')
    with peer(refused) as server, Client(server.url, patience=QUICK) as client, pytest.raises(ServerRefused):
        next(client.stream("x"))


def test_events_in_pieces_of_any_size() -> None:
    text = "id: 1\nevent: notification\ndata: a\u2028b\n\n: beat\n\nid: 2\n\r\ndata: c\ndata: d\r\n\nid: 3\n\n".encode()
    wanted = [Message("1", "notification", "a\u2028b"), Message("2", "message", "c\nd")]
    for size in (1, 2, 3, 7, len(text)):
        source = EventSource(None)
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        assert [one for piece in pieces for one in source.feed(piece)] == wanted
        assert source.last == "3"


def test_a_webhook_and_its_deliveries(service: Service, ann: Client, hook: Receiver) -> None:
    made = ann.subscribe("year > 0", channel={"kind": "webhook", "url": hook.url})
    assert made.channel == {"kind": "webhook", "url": hook.url}
    assert made.channel_state == "active"
    assert made.secret is not None
    assert made.secret not in repr(made)
    assert ann.test_delivery(made.id).ok
    ann.publish([car("e0"), car("e1")])
    match_all(service.store)
    send(service)
    assert len(hook.wait(3)) == 3
    listed = list(ann.deliveries(made.id))
    assert [(one.state, one.sequences) for one in listed] == [("delivered", (2,)), ("delivered", (1,))]
    (tried,) = ann.delivery(made.id, listed[0].number).tried
    assert (tried.ok, tried.status) == (True, 200)
    assert ann.replay(made.id, [listed[0].number]) == 1
    assert ann.replay(made.id, first=1, last=1) == 1
    assert ann.replay(made.id, failed=True) == 0
    assert [one.state for one in ann.deliveries(made.id, "due")] == ["due", "due"]
    assert ann.pause_channel(made.id)["state"] == "paused"
    assert ann.channel(made.id)["state"] == "paused"
    assert ann.resume_channel(made.id)["state"] == "active"
    assert ann.rotate_secret(made.id) != made.secret
    assert ann.notices().items == ()
    assert ann.edit(made.id, channel={"kind": "stored"}).channel == {"kind": "stored"}
