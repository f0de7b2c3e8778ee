"""Peers that are slow, silent or send too much, on real sockets; others are served meanwhile."""

import json
import socket
from contextlib import suppress
from dataclasses import replace
from time import sleep
from typing import Any

import pytest

from tests.service.conftest import SETTINGS, Service, car, on_sqlite
from tidings.settings import Settings

IDLE = 0.6
HEAD = b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.fixture
def settings() -> Settings:
    return replace(SETTINGS, idle_seconds=IDLE, connections=50)


def _connect(service: Service) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=60)


def _rest(peer: socket.socket) -> bytes:
    """All that comes until the service lets go."""
    found = b""
    with suppress(ConnectionResetError):
        while data := peer.recv(1 << 16):
            found += data
    return found


def _others_are_served(service: Service) -> None:
    assert service.client.post("/v1/events", json=car(None)).status_code == 202


@on_sqlite
@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"POST /v1/events HT",
        HEAD,
        HEAD + b"Content-Length: 100\r\n\r\n{",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
    ],
    ids=["silent", "half a line", "half its headers", "half its body", "no chunk"],
)
def test_a_peer_that_stops_in_the_middle_is_let_go(service: Service, beginning: bytes) -> None:
    with _connect(service) as peer:
        peer.sendall(beginning.replace(b"Host: x", b"Host: x\r\n" + _token(service)))
        _others_are_served(service)
        answer = _rest(peer)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"application/problem+json" in answer
    _others_are_served(service)


@on_sqlite
def test_a_peer_that_sends_a_byte_at_a_time_is_let_go(service: Service) -> None:
    with _connect(service) as peer:
        peer.sendall(HEAD.replace(b"Host: x", b"Host: x\r\n" + _token(service)) + b"Content-Length: 1000\r\n\r\n")
        sent = 0
        with suppress(ConnectionError):
            while sent < 1_000:
                sent += peer.send(b" ")
                sleep(0.02)
        assert sent < 1_000
    _others_are_served(service)


@on_sqlite
def test_a_stream_that_goes_on_is_not_slow(service: Service) -> None:
    line = b'{"event_type": "car", "attributes": {"brand": "mini", "year": 1}}\n' * 10
    head = HEAD.replace(b"json", b"x-ndjson").replace(b"Host: x", b"Host: x\r\n" + _token(service))
    with _connect(service) as peer:
        peer.sendall(head + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % (len(line) * 30))
        for _ in range(30):
            peer.sendall(line)
            sleep(IDLE / 8)
        answer = _rest(peer)
    assert answer.startswith(b"HTTP/1.1 202")
    assert b'"accepted":300' in answer


@on_sqlite
def test_a_peer_that_does_not_read_its_answer_is_let_go(service: Service) -> None:
    for number in range(40):
        paint = [f"{number} {n} " + "x" * 1_000 for n in range(100)]
        service.client.post("/v1/events", json=car(f"e{number}", paint=paint))
    id = service.client.post("/v1/subscriptions", json={"filter": "brand = mini"}).json()["id"]
    positions = list(range(1, service.store.tail() + 1))
    service.commit(1, positions[-1], [(position, [id]) for position in positions])
    with _connect(service) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        request = b"GET /v1/notifications?limit=1000 HTTP/1.1\r\nHost: x\r\n" + _token(service) + b"\r\n\r\n"
        peer.sendall(request * 5)
        sleep(IDLE * 3)
        _others_are_served(service)
        assert len(_rest(peer)) < 4_000_000  # broken off


@on_sqlite
def test_a_huge_body_is_refused_at_once(service: Service) -> None:
    with _connect(service) as peer:
        peer.sendall(HEAD.replace(b"Host: x", b"Host: x\r\n" + _token(service)) + b"Content-Length: 100000000\r\n\r\n")
        assert peer.recv(1 << 16).startswith(b"HTTP/1.1 413")
    with _connect(service) as peer:
        head = HEAD.replace(b"Host: x", b"Host: x\r\n" + _token(service)) + b"Transfer-Encoding: chunked\r\n\r\n"
        peer.sendall(head)
        sent = 0
        with suppress(ConnectionError):
            while sent < 100_000_000:
                peer.sendall(b"100000\r\n" + b" " * 0x100000 + b"\r\n")
                sent += 0x100000
                if sent == 0x100000:
                    _others_are_served(service)
        assert sent < 100_000_000
    _others_are_served(service)


@on_sqlite
def test_half_open_sockets_do_not_keep_others_out(service: Service) -> None:
    peers = [_connect(service) for _ in range(40)]
    try:
        _others_are_served(service)
        for peer in peers:
            peer.settimeout(20)
            assert _rest(peer).startswith(b"HTTP/1.1 408")
    finally:
        for peer in peers:
            peer.close()
    _others_are_served(service)


@on_sqlite
def test_when_all_are_busy_a_connection_is_told_to_come_again(service: Service) -> None:
    wait = b"GET /v1/notifications?wait=20 HTTP/1.1\r\nHost: x\r\n%b\r\n\r\n"
    tokens = [service.joined(f"user{number}").headers["Authorization"] for number in range(5)]  # each has a quarter
    under_way = service.app.door._in_flight._requests  # type: ignore[attr-defined]
    peers = []
    try:
        for number in range(50):
            peers.append(_connect(service))
            peers[-1].sendall(wait % f"Authorization: {tokens[number % 5]}".encode())
        while sum(under_way.values()) < 50:
            sleep(0.01)
        with _connect(service) as one_more:
            answer = _rest(one_more)
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"retry-after" in answer
    finally:
        for peer in peers:
            peer.close()
    with service.anonymous() as client:
        assert client.get("/healthz").status_code == 200


@on_sqlite
def test_waiting_for_notifications_is_not_idling(service: Service) -> None:
    answer = service.client.get("/v1/notifications", params={"wait": IDLE * 3})
    assert answer.json()["items"] == []


def _token(service: Service) -> bytes:
    return f"Authorization: {service.client.headers['Authorization']}".encode()


def _problem(answer: bytes) -> tuple[bytes, dict[str, Any]]:
    """The status line and the body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    problem = json.loads(body)
    lines = head.lower().split(b"\r\n")
    assert b"content-type: application/problem+json" in lines
    assert b"x-request-id: " + problem["request_id"].encode() in lines
    return head.partition(b"\r\n")[0], problem


BEGINNING = b"GET /v1/schema HTTP/1.1\r\nHost: x\r\n"


@on_sqlite
@pytest.mark.parametrize(
    ("beginning", "more", "rounds"),
    [
        (BEGINNING + b"X-Long: ", b"x" * 65_536, 1_000),
        (BEGINNING, b"X-One: 1\r\n" * 6_000, 1_000),
        (b"GET /v1/schema?", b"x" * 65_536, 1_000),
        (BEGINNING + b"X-Long: ", b"x" * 90_000 + b"\r\n\r\n", 1),
        (BEGINNING, b"X-One: 1\r\n" * 9_000 + b"\r\n", 1),
        (BEGINNING + b"X-Long: " + b"x" * 120_000, b"\r\n\r\n", 1),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Long: ", b"x" * 65_536, 1_000),
    ],
    ids=[
        "long header",
        "many headers",
        "long URL",
        "long header at once",
        "many headers at once",
        "its end later",
        "trailers",
    ],
)
def test_headers_and_urls_have_a_limit(service: Service, beginning: bytes, more: bytes, rounds: int) -> None:
    with _connect(service) as peer:
        sent = 0
        with suppress(ConnectionError):
            peer.sendall(beginning.replace(b"Host: x", b"Host: x\r\n" + _token(service)))
            for _ in range(rounds):
                peer.sendall(more)
                sent += len(more)
        answer = _rest(peer)
    assert sent < 10_000_000  # what the kernels hold
    if b"chunked" in beginning and not answer.startswith(b"HTTP/1.1 431"):
        return  # the answer to the body was quicker than the trailers
    status, problem = _problem(answer)
    assert status == b"HTTP/1.1 431 Request Header Fields Too Large"
    assert problem["type"] == "/problems/headers-too-large"


@on_sqlite
def test_headers_below_the_limit_are_taken(service: Service) -> None:
    head = BEGINNING.replace(b"Host: x", b"Host: x\r\n" + _token(service)) + b"Connection: close\r\n"
    with _connect(service) as peer:
        peer.sendall(head + b"X-Long: " + b"x" * 60_000 + b"\r\n\r\n")
        assert _rest(peer).startswith(b"HTTP/1.1 200")
    with _connect(service) as peer:  # what was sent before does not count
        whole = (BEGINNING.replace(b"Host: x", b"Host: x\r\n" + _token(service)) + b"\r\n") * 400
        peer.sendall(whole + head + b"X-Long: " + b"x" * 60_000 + b"\r\n\r\n")
        assert _rest(peer).count(b"HTTP/1.1 200") == 401


@on_sqlite
def test_what_a_connection_answers_by_itself_has_an_id_and_leaves_no_line_in_the_log(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with _connect(service) as peer:
        peer.sendall(b"nonsense\r\n\r\n")
        status, problem = _problem(_rest(peer))
    assert status == b"HTTP/1.1 400 Bad Request"
    assert problem["type"] == "/problems/bad-request"
    assert "instance" not in problem
    with _connect(service) as peer:
        peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
        assert b" 200 " in _rest(peer)
    with _connect(service) as peer:
        begun = HEAD.replace(b"Host: x", b"Host: x\r\nX-Request-Id: mine-7\r\n" + _token(service))
        peer.sendall(begun + b"Content-Length: 100\r\n\r\n{")
        status, problem = _problem(_rest(peer))
    assert status == b"HTTP/1.1 408 Request Timeout"
    assert (problem["request_id"], problem["instance"]) == ("mine-7", "/v1/events")
    assert not [one for one in caplog.records if one.name.startswith("uvicorn")]
