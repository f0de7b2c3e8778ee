"""The live stream, read by a plain reader of server-sent events; the pipeline's part is done by `service.commit`."""

import asyncio
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import httpx
import pytest

from tests.service.conftest import SETTINGS, Service, car, on_sqlite
from tests.service.event_source import EventSource
from tests.service.numbers import register
from tests.service.served import Served
from tests.services.missing import need
from tidings.service.live import stream
from tidings.service.live import streams as streaming
from tidings.settings import Settings


def token_of(client: httpx.Client) -> str:
    return client.headers["Authorization"].removeprefix("Bearer ")


def subscribe(client: httpx.Client) -> str:
    return str(client.post("/v1/subscriptions", json={"filter": "brand = mini"}).json()["id"])


class Finder:
    """Publishes and matches: `find(3, id)` makes three notifications of that subscription, and answers their names."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._numbers = count()

    def __call__(self, events: int, *ids: str, **attributes: str) -> list[str]:
        names = [f"e{next(self._numbers)}" for _ in range(events)]
        first = self._service.store.committed() + 1
        positions = []
        for name in names:
            answer = self._service.client.post("/v1/events", json=car(name, **attributes))
            positions.append(int(answer.json()["position"]))
        self._service.commit(first, positions[-1], [(position, sorted(ids)) for position in positions])
        return names


@pytest.fixture
def find(service: Service) -> Finder:
    return Finder(service)


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_is_stored_and_then_what_comes(service: Service, client: httpx.Client, find: Finder) -> None:
    id = subscribe(client)
    before = find(3, id)
    with EventSource(service.port, token_of(client)) as source:
        assert (source.status, source.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        assert source.headers["cache-control"] == "no-store"
        assert [one.name for one in source.take(3)] == before
        after = find(2, id)
        came = source.take(2)
        assert source.retry == streaming.RETRY
    assert [one.name for one in came] == after
    assert {one.event for one in came} == {"notification"}
    page = client.get("/v1/notifications").json()
    assert [one.data for one in came] == page["items"][3:]
    assert came[-1].id == page["next"]


def test_a_stream_goes_on_where_it_broke_off(service: Service, client: httpx.Client, find: Finder) -> None:
    id = subscribe(client)
    names = find(6, id)
    token = token_of(client)
    with EventSource(service.port, token) as source:
        source.take(2)
        last = source.last
    with EventSource(service.port, token, last=last, after="0") as source:  # the header is the newer one
        assert [one.name for one in source.take(2)] == names[2:4]
        last = source.last
    with EventSource(service.port, token, after=last) as source:
        assert [one.name for one in source.take(2)] == names[4:]


def test_one_that_begins_now_can_be_resumed_before_anything_came(
    service: Service, client: httpx.Client, find: Finder
) -> None:
    id = subscribe(client)
    find(2, id)
    token = token_of(client)
    with EventSource(service.port, token, after="now") as source:
        lines = source.lines()
        assert [next(lines), next(lines)] == [f"retry: {streaming.RETRY}", "id: 2"]
    names = find(2, id)
    with EventSource(service.port, token, last="2") as source:
        assert [one.name for one in source.take(2)] == names


def test_everybody_gets_their_own(service: Service, client: httpx.Client, find: Finder) -> None:
    ann = service.joined("ann")
    mine, other, hers = subscribe(client), subscribe(client), subscribe(ann)
    with (
        EventSource(service.port, token_of(client)) as all_of_mine,
        EventSource(service.port, token_of(client), subscription=mine) as one_of_mine,
        EventSource(service.port, token_of(ann)) as all_of_hers,
    ):
        find(1, mine)
        find(1, other, hers)
        find(1, mine, other, hers)
        assert [one.data["subscription"] for one in all_of_mine.take(4)] == [mine, other, *sorted((mine, other))]
        assert [one.data["subscription"] for one in one_of_mine.take(2)] == [mine, mine]
        assert [one.data["subscription"] for one in all_of_hers.take(2)] == [hers, hers]
    with EventSource(service.port, token_of(ann), subscription=mine) as refused:
        assert (refused.status, refused.body()["type"]) == (404, "/problems/no-such-subscription")


@on_sqlite
def test_whoever_has_no_token_or_a_wrong_cursor_is_refused(service: Service, client: httpx.Client) -> None:
    assert service.anonymous().get("/v1/notifications/stream").status_code == 401
    for query in ({"after": "x"}, {"after": "-1"}):
        assert client.get("/v1/notifications/stream", params=query).json()["type"] == "/problems/invalid-cursor"
    wrong = client.get("/v1/notifications/stream", headers={"Last-Event-ID": "nope"})
    assert (wrong.status_code, wrong.json()["type"]) == (422, "/problems/invalid-cursor")


@on_sqlite
def test_one_that_fell_behind_misses_nothing(
    service: Service, client: httpx.Client, find: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_KEPT", 3)
    monkeypatch.setattr(streaming, "_PAGE", 4)
    id = subscribe(client)
    with EventSource(service.port, token_of(client)) as source:
        names = find(2, id) + find(50, id) + find(3, id)
        assert [one.name for one in source.take(55)] == names


@on_sqlite
def test_a_reader_that_does_not_read_holds_up_nobody(
    service: Service, client: httpx.Client, find: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_KEPT", 20)
    id = subscribe(client)
    token = token_of(client)
    with (
        EventSource(service.port, token, buffer=4096) as slow,
        EventSource(service.port, token) as quick,
    ):
        names = []
        for _ in range(4):
            names += find(25, id, paint="x" * 150_000)
            assert quick.take(25)[-1].name == names[-1]
        (stuck,) = (one for one in service.app.state.streams._streams() if one.cursor < 100)
        assert len(stuck._kept) <= 20
        assert stuck._bytes <= stream._KEPT_BYTES
        assert [one.name for one in slow.take(100)] == names


class TestLimits:
    @pytest.fixture
    def settings(self) -> Settings:
        return replace(SETTINGS, streams=3, streams_per_owner=2)

    @on_sqlite
    def test_too_many_for_one_and_for_all(self, service: Service, client: httpx.Client) -> None:
        ann, bob = service.joined("ann"), service.joined("bob")
        opened = [EventSource(service.port, token_of(one)) for one in (client, client, ann)]
        assert [source.status for source in opened] == [200, 200, 200]
        with EventSource(service.port, token_of(bob)) as refused:
            assert (refused.status, refused.body()["type"]) == (503, "/problems/no-more-streams")
            assert int(refused.headers["retry-after"]) >= 1
        opened.pop().__exit__()
        eventually(lambda: service.app.state.streams.count == 2)
        with EventSource(service.port, token_of(client)) as refused:
            assert (refused.status, refused.body()["type"]) == (429, "/problems/too-many-streams")
            assert int(refused.headers["retry-after"]) >= 1
        with EventSource(service.port, token_of(bob)) as taken:
            assert taken.status == 200
        for source in opened:
            source.__exit__()
        eventually(lambda: service.app.state.streams.count == 0)
        assert service.app.state.streams._tasks == ()


@on_sqlite
def test_a_token_that_is_taken_back_ends_its_stream(
    service: Service, client: httpx.Client, find: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_CHECK", 0.05)
    id = subscribe(client)
    body = {"username": "tester", "password": "correct horse battery staple"}
    other = client.post("/v1/tokens", json=body).json()["token"]
    with EventSource(service.port, other) as ending, EventSource(service.port, token_of(client)) as staying:
        client.delete("/v1/tokens/current", headers={"Authorization": f"Bearer {other}"})
        assert list(ending) == []
        names = find(1, id)
        assert staying.take(1)[0].name == names[0]


@on_sqlite
def test_silence_is_broken_now_and_then(
    service: Service, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT", 0.05)
    with EventSource(service.port, token_of(client)) as source:
        lines = source.lines()
        assert [line for line in (next(lines) for _ in range(8)) if line.startswith(":")]


@on_sqlite
def test_a_service_that_stops_ends_its_streams(service: Service, client: httpx.Client) -> None:
    with EventSource(service.port, token_of(client)) as source:
        asyncio.run_coroutine_threadsafe(service.app.state.streams.close(), service.loop).result(30)
        assert list(source) == []
    with EventSource(service.port, token_of(client)) as late:  # it ends at once, and its reader comes back
        assert list(late) == []


def test_a_process_that_is_asked_to_stop_does_not_wait_for_its_streams(tmp_path: Path) -> None:
    with Served(tmp_path, "--no-pipeline", "--no-outbox") as served:
        with EventSource(served.port, register(served, "ann")) as source:
            assert served.stop() == 0
            assert list(source) == []
        assert served.errors == ""


@on_sqlite
def test_whoever_hangs_up_leaves_nothing_behind(service: Service, client: httpx.Client) -> None:
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", service.port)) as rude:
            head = (
                f"GET /v1/notifications/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token_of(client)}\r\n\r\n"
            )
            rude.sendall(head.encode())
    eventually(lambda: service.app.state.streams.count == 0)
    assert client.get("/healthz").status_code == 200


@on_sqlite
def test_curl_shows_it(service: Service, client: httpx.Client, find: Finder) -> None:
    need("curl", "curl")
    id = subscribe(client)
    find(1, id)
    command = ["curl", "-sN", "--max-time", "30", f"{service.address}/v1/notifications/stream"]
    command += ["-H", f"Authorization: Bearer {token_of(client)}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as curl:
        assert curl.stdout is not None
        lines = [curl.stdout.readline().strip() for _ in range(5)]
        curl.terminate()
    assert lines[:2] == [f"retry: {streaming.RETRY}", ""]
    assert lines[2:4] == ["id: 1", "event: notification"]
    assert lines[4].startswith('data: {"id":')
