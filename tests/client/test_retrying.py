"""What is sent again, what is not, and what is told when it is of no use."""

import socket
import time
from email.utils import formatdate

import pytest

from tests.client.conftest import QUICK
from tests.client.peers import answer, peer
from tidings.client import Client, NotAllowed, NotFound, Patience, ServerRefused, ServerUnreachable, TooMany
from tidings.client.answers import ServerResponse
from tidings.client.flows import Pause, call
from tidings.client.requests.event_requests import events, start_query
from tidings.client.requests.schema_requests import schema

PUBLISHED = answer("202 Accepted", b'{"id": "e1", "position": 7, "duplicate": false}', "content-type: application/json")
BUSY = answer("503 Service Unavailable", b'{"detail": "busy"}', "retry-after: 0")
SUBSCRIBED = answer(
    "201 Created",
    b'{"id": "s-1", "filter": "price < 1", "state": "active", "expiry": null, "channel": {}, "since": 3}',
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_an_event_is_sent_again_with_the_same_id_when_the_server_hangs_up_or_is_busy() -> None:
    with peer(b"", BUSY, PUBLISHED) as server, Client(server.url, patience=QUICK) as client:
        assert client.publish({"event_type": "car"}).position == 7
    bodies = {request.partition(b"\r\n\r\n")[2] for request in server.seen}
    assert len(server.seen) == 3
    assert len(bodies) == 1
    assert b'"id"' in bodies.pop()


def test_a_subscription_is_sent_again_under_one_key_and_another_call_has_another() -> None:
    with peer(b"", SUBSCRIBED, SUBSCRIBED) as server, Client(server.url, patience=QUICK) as client:
        client.subscribe("price < 1")
        client.subscribe("price < 1")
    first, again, other = server.keys()
    assert first == again
    assert other != first


def test_a_job_is_not_asked_for_again_when_the_server_may_have_begun_it() -> None:
    with (
        peer(b"") as server,
        Client(server.url, patience=QUICK) as client,
        pytest.raises(ServerUnreachable),
    ):
        client.start_query("year < 1970")
    assert len(server.seen) == 1


def test_registering_is_repeated_under_one_key() -> None:
    made = answer("201 Created", b'{"username": "ann", "token": "tid_x"}')
    with peer(b"", made) as server, Client(server.url, patience=QUICK) as client:
        assert client.register("ann", "correct horse") == "tid_x"
    first, again = server.keys()
    assert first == again


def test_registering_is_repeated_when_the_server_says_that_it_did_nothing() -> None:
    busy = answer("429 Too Many Requests", b"{}", "retry-after: 0")
    with (
        peer(busy, answer("201 Created", b'{"username": "ann", "token": "tid_x"}')) as server,
        Client(server.url, patience=QUICK) as client,
    ):
        assert client.register("ann", "correct horse") == "tid_x"
        assert client.token == "tid_x"


def test_after_the_last_attempt_the_refusal_is_told() -> None:
    patience = Patience(retries=2, first=0.001)
    with (
        peer(BUSY, BUSY, BUSY) as server,
        Client(server.url, patience=patience) as client,
        pytest.raises(ServerRefused, match="busy") as caught,
    ):
        client.schema()
    assert caught.value.status == 503
    assert len(server.seen) == 3


def test_nobody_there_is_told_with_the_address() -> None:
    address = f"http://127.0.0.1:{free_port()}"
    with Client(address, patience=Patience(retries=1, first=0.001)) as client:
        with pytest.raises(ServerUnreachable, match=address):
            client.schema()
        assert client.healthy() is False


def test_a_server_that_asks_to_wait_beyond_the_deadline_is_not_waited_for() -> None:
    later = answer("429 Too Many Requests", b'{"detail": "slow down"}', "retry-after: 3600")
    with (
        peer(later) as server,
        Client(server.url, patience=QUICK) as client,
        pytest.raises(TooMany, match="slow down"),
    ):
        client.schema()


def test_retry_after_is_seconds_or_a_date() -> None:
    now = time.time()
    assert ServerResponse("", 503, {"retry-after": "7"}, b"").retry_after(now) == 7
    assert ServerResponse("", 503, {"retry-after": formatdate(now + 60, usegmt=True)}, b"").retry_after(
        now
    ) == pytest.approx(60, abs=1)
    assert ServerResponse("", 503, {"retry-after": "soon"}, b"").retry_after(now) is None
    assert ServerResponse("", 503, {}, b"").retry_after(now) is None


def test_pauses_double_and_the_servers_wish_wins() -> None:
    patience = Patience(retries=4, deadline=1000, first=1, longest=6, clock=lambda: 0.0, draw=lambda: 1.0)
    flow = call(schema(), patience)
    next(flow)
    pauses = []
    for headers in ({}, {}, {"retry-after": "9"}, {}):
        step = flow.send(ServerResponse("http://x", 503, headers, b"{}"))
        assert isinstance(step, Pause)
        pauses.append(step.seconds)
        next(flow)
    assert pauses == [1, 2, 9, 6]
    with pytest.raises(ServerRefused):
        flow.send(ServerResponse("http://x", 503, {}, b"{}"))


def test_502_is_not_repeated_for_what_may_have_been_done() -> None:
    flow = call(start_query("year < 1970", None, None), QUICK)
    next(flow)
    with pytest.raises(ServerRefused):
        flow.send(ServerResponse("http://x", 502, {}, b""))


@pytest.mark.parametrize(
    ("status", "kind"), [(401, NotAllowed), (403, NotAllowed), (404, NotFound), (409, ServerRefused)]
)
def test_refusals_are_not_repeated(status: int, kind: type[ServerRefused]) -> None:
    with (
        peer(answer(f"{status} No", b'{"detail": "no"}')) as server,
        Client(server.url, patience=QUICK) as client,
        pytest.raises(kind, match=r"^no$") as caught,
    ):
        client.schema()
    assert type(caught.value) is kind


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"[1]", b'{"nothing": "known"}'])
def test_what_is_no_tidings_server_is_told(body: bytes) -> None:
    with (
        peer(answer("200 OK", body)) as server,
        Client(server.url, patience=QUICK) as client,
        pytest.raises(ServerUnreachable, match="is the address right"),
    ):
        client.subscription("s-1")


def test_nobody_is_sent_elsewhere_with_the_token() -> None:
    moved = answer("307 Temporary Redirect", b"", "location: http://127.0.0.1:1/")
    with (
        peer(moved) as server,
        Client(server.url, "tid_x", patience=QUICK) as client,
        pytest.raises(ServerUnreachable, match="redirects elsewhere"),
    ):
        client.schema()


@pytest.mark.parametrize("address", ["localhost:8080", "", "ftp://x", "http://", "http://[::1"])
def test_an_address_must_be_one(address: str) -> None:
    with pytest.raises(ServerUnreachable, match="expected an address such as"):
        Client(address)


def test_what_the_server_still_works_on_is_asked_for_again() -> None:
    busy = answer("409 Conflict", b'{"type": "/problems/idempotency-key-in-use"}', "retry-after: 0")
    with peer(busy, busy, SUBSCRIBED) as server, Client(server.url, patience=QUICK) as client:
        assert client.subscribe("price < 1").id == "s-1"
    assert len(set(server.keys())) == 1
    assert len(server.seen) == 3


def test_a_question_that_may_become_a_job_is_not_repeated() -> None:
    assert [
        events(None, None, None, limit, after).idempotent for limit, after in ((None, None), (5, None), (None, "7"))
    ] == [False, True, True]
    with (
        peer(b"") as server,
        Client(server.url, patience=QUICK) as client,
        pytest.raises(ServerUnreachable),
    ):
        list(client.query("price < 1"))
    assert len(server.seen) == 1
