"""The guards in front of every request, in their order: what each refuses costs nothing of what stands behind it."""

import gc
import pickle
import socket
import threading
import tracemalloc
from contextlib import ExitStack
from dataclasses import replace
from time import monotonic, process_time

import httpx
import pytest

from tests.service.conftest import PASSWORD, SETTINGS, Service, car, lines, on_sqlite
from tidings.schema import Catalog
from tidings.service.actions.accounts import Accounts
from tidings.service.door.callers import digest_of, new_token
from tidings.service.door.in_flight import InFlight, TooManyAtOnce, TooManyBytes
from tidings.service.publishing.event_lines import sift
from tidings.settings import Settings
from tidings.store.accounts.accounts import Token

KEY = {"Idempotency-Key": "k1"}
MIB = 1 << 20


def _with(service: Service, *scopes: str) -> httpx.Client:
    token = new_token()
    now = service.store.clock.now()
    service.store.add_token(Token(digest_of(token), "tester", "token", "", frozenset(scopes), now, None))
    client = service.anonymous()
    client.headers["Authorization"] = f"Bearer {token}"
    return client


@on_sqlite
def test_a_kept_answer_is_not_given_to_a_token_without_the_scope(service: Service) -> None:
    """It was: 201 with all that the first answer told, where 403 is due."""
    body = {"filter": "price > 5"}
    assert service.client.post("/v1/subscriptions", json=body, headers=KEY).status_code == 201
    answer = _with(service, "publish", "read").post("/v1/subscriptions", json=body, headers=KEY)
    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/insufficient-scope")
    assert service.client.post("/v1/subscriptions", json=body, headers=KEY).headers["idempotency-replayed"] == "true"


def _half_sent(service: Service, head: str, size: int) -> bytes:
    """The beginning of the answer to a request of whose large body only 200 KB were sent."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=20) as peer:
        peer.sendall(f"{head}Host: x\r\nContent-Length: {size}\r\n\r\n".encode())
        peer.sendall(b"x" * 50_000)
        return peer.recv(1 << 12)


@on_sqlite
@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("POST /v1/subscriptions HTTP/1.1\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n", b"401"),
        ("POST /v1/schema/domains HTTP/1.1\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n", b"401"),
        ("POST /v1/events HTTP/1.1\r\nContent-Type: application/json\r\n", b"401"),
        ("POST /pages/login HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n", b"413"),
        ("POST /v1/tokens HTTP/1.1\r\nContent-Type: application/json\r\n", b"413"),
    ],
    ids=["subscription", "domain", "event", "login form", "login"],
)
def test_a_strangers_body_is_not_read(service: Service, head: str, status: bytes) -> None:
    """The answer comes while 15 MiB are still to be sent: nothing waits for them. 200 such bodies took 3 GB."""
    assert _half_sent(service, head, 15 * MIB).startswith(b"HTTP/1.1 " + status)


class TestBytes:
    @pytest.fixture
    def settings(self) -> Settings:
        return replace(SETTINGS, bytes_in_flight=2 * MIB)

    @on_sqlite
    def test_large_bodies_of_one_account_share_a_limit(self, service: Service) -> None:
        head = f"POST /v1/subscriptions HTTP/1.1\r\nAuthorization: {service.client.headers['Authorization']}\r\n"
        head += f"Content-Type: application/json\r\nHost: x\r\nContent-Length: {400 * 1024}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", service.port), timeout=60) as first:
            first.sendall(head.encode() + b" " * 70_000)
            until = monotonic() + 20
            while not service.app.door._in_flight._all_bytes:  # type: ignore[attr-defined]
                assert monotonic() < until
            answer = service.client.post("/v1/subscriptions", json={"filter": " " * 300_000})
            assert (answer.status_code, answer.json()["type"]) == (429, "/problems/too-many-requests")
            assert answer.headers["retry-after"] == "1"
            assert service.client.post("/v1/subscriptions", json={"filter": "price > 1"}).status_code == 201
        until = monotonic() + 20
        while service.app.door._in_flight._all_bytes:  # type: ignore[attr-defined]
            assert monotonic() < until
        assert service.client.post("/v1/subscriptions", json={"filter": " " * 300_000}).status_code == 422


def test_shares() -> None:
    in_flight = InFlight(Settings(bytes_in_flight=16 * MIB, connections=8))
    in_flight.take("192.0.2.1", 20 * MIB, True)  # alone it may be as large as any
    with pytest.raises(TooManyBytes):
        in_flight.take("ann", MIB, False)
    in_flight.give_back("192.0.2.1", 20 * MIB)
    in_flight.take("192.0.2.1", MIB, True)
    with pytest.raises(TooManyBytes):
        in_flight.take("192.0.2.1", 1, True)
    for _ in range(4):
        in_flight.take("ann", MIB, False)
    with pytest.raises(TooManyBytes):
        in_flight.take("ann", MIB, False)
    in_flight.take("bob", MIB, False)
    for _ in range(2):
        in_flight.enter("ann")
    with pytest.raises(TooManyAtOnce):
        in_flight.enter("ann")
    in_flight.leave("ann")
    in_flight.enter("ann")


@on_sqlite
def test_lines_that_are_refused_take_no_memory(service: Service) -> None:
    """A megabyte of lines `1` took 780 MB, and kept them until the garbage collector came by; now 8 MB."""
    body = b"1\n" * 100_000
    headers = {"Content-Type": "application/x-ndjson"}
    service.client.post("/v1/events", content=body[:100], headers=headers)
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        answer = service.client.post("/v1/events", content=body, headers=headers).json()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert answer["refused"] == 100_000
    assert (len(answer["results"]), answer["omitted"]) == (10_000, 90_000)
    assert len([one for one in answer["results"] if "errors" in one]) == 1_000
    assert kept < 20 * MIB


def test_a_refused_line_keeps_no_traceback() -> None:
    """It holds the frames, which hold all lines of the block."""
    sifted = sift([1, {"id": "e1"}], range(1, 3), Catalog(), 10)
    assert [one.__traceback__ for one in sifted.refused.values()] == [None, None]


@on_sqlite
def test_an_array_of_numbers_is_refused_at_once(service: Service) -> None:
    """It took a thread 56 s."""
    headers = {"Content-Type": "application/json"}
    for body in (b"[" + b"1," * 7_000_000 + b"1]", b"[" + b"{}," * 110_000 + b"{}]"):
        began = process_time()
        answer = service.client.post("/v1/events", content=body, headers=headers)
        assert process_time() - began < 5
        assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-many-events")
    many = service.client.post(
        "/v1/events", content=lines(*[car(None)] * 10), headers={"Content-Type": "application/jsonl"}
    )
    assert many.json()["accepted"] == 10


class TestConnections:
    @pytest.fixture
    def settings(self) -> Settings:
        return replace(SETTINGS, connections=20)

    @on_sqlite
    def test_silent_connections_keep_nobody_out(self, service: Service) -> None:
        """They took all places for 30 s. Now a new connection takes the place of the one that was silent longest."""
        with ExitStack() as closing:
            silent = [
                closing.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=60))
                for _ in range(30)
            ]
            for _ in range(3):
                with service.anonymous() as client:
                    assert client.get("/healthz").status_code == 200
            assert silent[0].recv(100).startswith(b"HTTP/1.1 503")


class TestTokens:
    @pytest.fixture
    def settings(self) -> Settings:
        return replace(SETTINGS, guest_requests_per_second=5)

    @on_sqlite
    def test_junk_tokens_are_limited_before_the_store_is_asked(
        self, service: Service, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """400 of them caused 400 reads. Whoever shares the address and has a valid token is served meanwhile."""
        assert service.client.get("/v1/accounts/me").status_code == 200
        reads, look = [], service.store.token
        monkeypatch.setattr(service.store, "token", lambda digest: reads.append(digest) or look(digest))
        client = service.anonymous()
        began = monotonic()
        for number in range(100):
            client.get("/v1/notifications", headers={"Authorization": f"Bearer tid_{number}"})
        assert len(reads) <= 6 + 5 * (monotonic() - began)
        service.gateway.callers._known = type(service.gateway.callers._known)(  # as if it was looked up long ago
            (digest, (caller, 0.0)) for digest, (caller, _) in service.gateway.callers._known.items()
        )
        assert service.client.get("/v1/accounts/me").status_code == 200


@on_sqlite
@pytest.mark.parametrize("scheme", ["bearer ", "BEARER ", "Bearer   "])
def test_a_scheme_may_be_written_as_one_likes(service: Service, scheme: str) -> None:
    token = service.client.headers["Authorization"].partition(" ")[2]
    client = service.anonymous()
    for _ in range(2):  # looked up, then remembered
        answer = client.post("/v1/events", json=car(), headers={"Authorization": scheme + token})
        assert answer.status_code == 202


class TestProxies:
    @pytest.fixture
    def settings(self) -> Settings:
        return replace(SETTINGS, trusted_proxies=("127.0.0.1",))

    @on_sqlite
    def test_guesses_by_others_do_not_lock_the_owner_out(self, service: Service) -> None:
        """Behind the proxy all had one address: after ten guesses by anybody the right password was refused."""
        service.app.state.accounts = Accounts(service.gateway, clock=lambda: 0.0)
        client = service.anonymous()

        def log_in(password: str, forwarded: str) -> int:
            body = {"username": "tester", "password": password}
            return client.post("/v1/tokens", json=body, headers={"X-Forwarded-For": forwarded}).status_code

        guesses = [log_in(f"guess {n}", f"203.0.113.{n}, 192.0.2.66") for n in range(12)]  # the first is made up
        assert guesses == [401] * 10 + [429] * 2
        assert log_in(PASSWORD, "198.51.100.7") == 201
        assert log_in(PASSWORD, "192.0.2.66") == 429
        v6 = [log_in("a guess", f"2001:db8::{n}") for n in range(11)]
        assert v6 == [401] * 10 + [429]


def test_one_account_never_has_all_the_processes(tmp_path: object) -> None:
    """See test_inquiries for the rest of them."""
    import asyncio

    from tidings.service.workers.inquiries import Inquiries

    async def whole() -> None:
        inquiries = Inquiries("sqlite:///nowhere")
        started, release = [], threading.Event()

        def answer(task: bytes) -> bytes:
            started.append(task)
            release.wait(60)
            return task

        inquiries._answer = answer  # type: ignore[method-assign, assignment]
        asked = [asyncio.ensure_future(inquiries.ask("ann", len)) for _ in range(4)]  # type: ignore[arg-type]
        asked.append(asyncio.ensure_future(inquiries.ask("bob", repr)))  # type: ignore[arg-type]
        while len(started) < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        assert {pickle.loads(task)[0] for task in started} == {len, repr}, "one of ann's, and bob's"
        release.set()
        await asyncio.gather(*asked)
        assert not inquiries._turns
        await inquiries.close()

    asyncio.run(whole())
