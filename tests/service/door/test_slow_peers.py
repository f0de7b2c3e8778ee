"""Peers that are slow, silent or send too much, on real sockets; others are served meanwhile."""

import socket
from contextlib import suppress
from dataclasses import replace
from time import sleep

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
