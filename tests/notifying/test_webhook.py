"""The webhook channel: what is sent, and what each kind of receiver makes of an attempt."""

import asyncio
import json
import pickle
from types import MappingProxyType
from typing import Any

import pytest

from tests.notifying.http_receiver import OK, Receiver, closing, endless, resetting, silent
from tidings.errors import ChannelError
from tidings.notifying.channels.webhook import Consent, InvalidWebhook, WebhookChannel, header_text
from tidings.notifying.delivery import Attempt, Channel, OutgoingDelivery, Owed
from tidings.notifying.http.addresses import InvalidUrl, Resolver, UnsafeAddress
from tidings.notifying.http.sender import HttpSender
from tidings.notifying.signatures import InvalidSecret, new_secret, verify
from tidings.schema import Instant

NOW = Instant.parse("2026-05-01T10:00:00.25Z")
SECRETS = [new_secret(), new_secret()]
EVENT = {"id": "e1", "event_type": ["car"], "attributes": {"price": 900, "note": "<b>é</b>"}}


def owed(sequence: int) -> Owed:
    return Owed(f"n{sequence}", sequence, MappingProxyType(EVENT), Instant.parse("2026-05-01T09:59:58Z"))


def delivery(*sequences: int, id: str = "n1", subscription: str = "s1", test: bool = False) -> OutgoingDelivery:
    return OutgoingDelivery(id, subscription, "ann", "price < 1000", tuple(owed(n) for n in sequences or (1,)), test)


def channel(**settings: Any) -> WebhookChannel:
    return WebhookChannel(HttpSender(**settings), allow_loopback=True)


def attempted(answer: Any, sent: OutgoingDelivery | None = None, **settings: Any) -> tuple[Attempt, Receiver]:
    async def once() -> tuple[Attempt, Receiver]:
        async with Receiver(answer) as receiver:
            webhook = channel(**settings)
            attempt = await webhook.send(sent or delivery(), {"url": receiver.url, "secrets": SECRETS}, NOW)
            await webhook._sender.close()
            return attempt, receiver

    return asyncio.run(once())


def test_one_notification() -> None:
    attempt, receiver = attempted(OK)
    assert (attempt.ok, attempt.status, attempt.response, attempt.problem) == (True, 200, "ok", "")
    assert attempt.seconds > 0
    (request,) = receiver.requests
    assert request.line == "POST /hook HTTP/1.1"
    headers = dict(request.headers)
    signature = headers.pop("webhook-signature")
    assert headers == {
        "host": f"127.0.0.1:{receiver.port}",
        "user-agent": "tidings",
        "content-type": "application/json",
        "content-length": str(len(request.body)),
        "ce-specversion": "1.0",
        "ce-type": "tidings.notification",
        "ce-source": "/v1/subscriptions/s1",
        "ce-id": "n1",
        "ce-time": "2026-05-01T09:59:58Z",
        "ce-sequence": "1",
        "webhook-id": "n1",
        "webhook-timestamp": "1777629600",
    }
    assert json.loads(request.body) == {
        "id": "n1",
        "subscription": "s1",
        "sequence": 1,
        "filter": "price < 1000",
        "matched_at": "2026-05-01T09:59:58Z",
        "event": EVENT,
    }
    for secret in SECRETS:
        assert verify(request.headers, request.body, secret, 1777629600) == "n1"
    lines = attempt.request.split("\n")
    assert lines[0] == f"POST {receiver.url}"
    assert {"webhook-id: n1", "ce-sequence: 1", "webhook-timestamp: 1777629600"} <= set(lines)
    assert "webhook-signature" not in attempt.request
    assert signature.split(",")[1] not in attempt.request


def test_a_digest() -> None:
    _, receiver = attempted(OK, delivery(4, 5, id="d1"))
    (request,) = receiver.requests
    body = json.loads(request.body)
    assert (body["id"], body["subscription"]) == ("d1", "s1")
    assert [one["sequence"] for one in body["notifications"]] == [4, 5]
    assert [one["id"] for one in body["notifications"]] == ["n4", "n5"]
    assert (request.headers["ce-type"], request.headers["ce-id"]) == ("tidings.digest", "d1")
    assert "ce-sequence" not in request.headers
    assert verify(request.headers, request.body, SECRETS, int(NOW) / 1e6) == "d1"


def test_a_test_says_so() -> None:
    _, receiver = attempted(OK, delivery(test=True))
    assert receiver.requests[0].headers["ce-test"] == "true"


def test_no_id_can_make_a_header() -> None:
    attempt, receiver = attempted(OK, delivery(id="n1\r\nx-injected: yes", subscription='s 1\n\0é%"'))
    assert attempt.ok
    (request,) = receiver.requests
    assert "x-injected" not in request.headers
    assert request.headers["webhook-id"] == "n1%0D%0Ax-injected:%20yes"
    assert request.headers["ce-source"] == "/v1/subscriptions/s%201%0A%00%C3%A9%25%22"
    assert verify(request.headers, request.body, SECRETS, int(NOW) / 1e6) == request.headers["webhook-id"]


def answer_of(status: int, *headers: str, body: str = "so") -> bytes:
    lines = [f"HTTP/1.1 {status} X", *headers, f"content-length: {len(body)}", "", body]
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize(
    ("answer", "problem", "retry_after", "gone"),
    [
        (answer_of(500), "it answered 500", None, False),
        (answer_of(404), "it answered 404", None, False),
        (answer_of(101), "it answered 101", None, False),
        (answer_of(410), "it answered 410: it wants nothing any more", None, True),
        (answer_of(301, "location: /x"), "it answered 301; redirects are not followed", None, False),
        (answer_of(308, "location: https://x"), "it answered 308; redirects are not followed", None, False),
        (answer_of(429, "Retry-After: 120"), "it answered 429", 120.0, False),
        (answer_of(503, "retry-after:  7 "), "it answered 503", 7.0, False),
        (answer_of(429, "retry-after: Fri, 01 May 2026 10:01:00 GMT"), "it answered 429", 59.75, False),
        (answer_of(429, "retry-after: Fri, 01 May 2026 09:00:00 GMT"), "it answered 429", 0.0, False),
        (answer_of(429, "retry-after: soon"), "it answered 429", None, False),
        (answer_of(429, "retry-after: -5"), "it answered 429", None, False),
        (answer_of(429, "retry-after: " + "9" * 5_000), "it answered 429", 1e9, False),
        (answer_of(429, "retry-after: Fri, 99 May 99999 99:99:99 GMT"), "it answered 429", None, False),
        (answer_of(429), "it answered 429", None, False),
        (answer_of(500, "retry-after: 120"), "it answered 500", None, False),
    ],
)
def test_answers(answer: bytes, problem: str, retry_after: float | None, gone: bool) -> None:
    attempt, receiver = attempted(answer)
    assert not attempt.ok
    assert (attempt.problem, attempt.retry_after, attempt.gone) == (problem, retry_after, gone)
    assert attempt.status == int(answer[9:12])
    assert attempt.response == ("" if attempt.status == 101 else "so")
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_every_2xx_is_success(status: int) -> None:
    attempt, _ = attempted(answer_of(status, body="" if status == 204 else "so"))
    assert attempt.ok
    assert attempt.status == status


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (resetting, "the connection was reset before an answer came"),
        (closing, "the connection was closed before an answer came"),
        (lambda r, w: closing(r, w, OK[:-1]), "the connection was closed before the answer was complete"),
        (silent, "no answer came within 0.2 s"),
        (b"hello\r\n", "the answer is not HTTP: Expected HTTP/, RTSP/ or ICE/"),
    ],
)
def test_what_the_other_side_does_is_a_failed_attempt(answer: Any, problem: str) -> None:
    attempt, _ = attempted(answer, seconds=0.2)
    assert attempt == Attempt(False, attempt.seconds, attempt.request, problem=problem)


def test_a_success_that_says_more_than_was_asked_is_one() -> None:
    assert attempted(OK + b"longer than it said")[0].ok
    attempt, _ = attempted(lambda r, w: endless(r, w, b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 1000))
    assert attempt.ok
    assert attempt.response == "x" * 2048


def names(*answers: str) -> Resolver:
    """A name that leads elsewhere each time it is asked."""
    left = list(answers)
    return Resolver(lambda host: [left.pop(0)], keep=0)


def test_an_address_is_vetted_at_every_delivery() -> None:
    async def run() -> None:
        async with Receiver() as receiver:
            sender = HttpSender()
            webhook = WebhookChannel(sender, allow_loopback=True, resolver=names("127.0.0.1", "127.0.0.1", "10.0.0.1"))
            settings = webhook.check({"kind": "webhook", "url": f"http://moving.example:{receiver.port}/"})
            assert (await webhook.send(delivery(), settings, NOW)).ok
            attempt = await webhook.send(delivery(), settings, NOW)  # though a connection to the first is open still
            assert not attempt.ok
            assert "resolves to 10.0.0.1, a private address" in attempt.problem
            assert len(receiver.requests) == 1
            await sender.close()

    asyncio.run(run())


def test_loopback_needs_the_opt_in_at_delivery_too() -> None:
    async def run() -> None:
        async with Receiver() as receiver:
            for url in (receiver.url, receiver.url.replace("http:", "https:"), "https://localhost/"):
                attempt = await WebhookChannel(HttpSender()).send(delivery(), {"url": url, "secrets": SECRETS}, NOW)
                assert not attempt.ok
                assert attempt.request.startswith(f"POST {url}\n")
                assert "allowed is https://" in attempt.problem
            assert receiver.connections == 0

    asyncio.run(run())


def test_settings_in_their_canonical_form() -> None:
    webhook: Channel = WebhookChannel(
        HttpSender(), resolver=Resolver(lambda host: ["1.1.1.1"]), secret=lambda: SECRETS[0]
    )
    digest = {"digest": {"count": 3}}
    made = webhook.check({"kind": "webhook", "url": "HTTPS://Example.org.:443", **digest})
    assert made == {"kind": "webhook", "url": "https://example.org/", "secrets": [SECRETS[0]], **digest}
    assert webhook.check(made) == made
    assert webhook.check({**made, "secrets": SECRETS})["secrets"] == SECRETS


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({}, InvalidWebhook, "the webhook's 'url' must be text such as https://example.org/hook, got null"),
        ({"url": 5}, InvalidWebhook, "got 5"),
        ({"url": "https://a.example/", "ulr": 1}, InvalidWebhook, "'ulr' is not known; did you mean 'url'?"),
        ({"url": "https://a.example/", "secrets": []}, InvalidWebhook, "list of 1 to 5 secrets"),
        ({"url": "https://a.example/", "secrets": "whsec_"}, InvalidWebhook, "list of 1 to 5 secrets"),
        ({"url": "https://a.example/", "secrets": [1]}, InvalidWebhook, "must be text"),
        ({"url": "https://a.example/", "secrets": ["whsec_"]}, InvalidSecret, "has 0 bytes"),
        ({"url": "http://a.example/"}, InvalidUrl, "is not encrypted"),
        ({"url": "https://10.0.0.1/"}, UnsafeAddress, "a private address"),
        ({"url": "https://a.example/\r\nx: y"}, InvalidUrl, "a control character"),
    ],
)
def test_settings_that_cannot_be_used(settings: dict[str, Any], error: type[ChannelError], text: str) -> None:
    webhook = WebhookChannel(HttpSender(), resolver=Resolver(lambda host: ["1.1.1.1"]))
    with pytest.raises(error) as caught:
        webhook.check(settings)
    assert text in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def consented(answer: Any, rate: int | None = None) -> tuple[Consent, Receiver]:
    async def once() -> tuple[Consent, Receiver]:
        async with Receiver(answer) as receiver:
            webhook = channel(seconds=0.3)
            consent = await webhook.consent(receiver.url, "tidings.example", rate)
            await webhook._sender.close()
            return consent, receiver

    return asyncio.run(once())


def test_the_handshake() -> None:
    answer = answer_of(200, "WebHook-Allowed-Origin: Tidings.example", "WebHook-Allowed-Rate: 100")
    consent, receiver = consented(answer, rate=120)
    assert consent == Consent(True, rate=100)
    (request,) = receiver.requests
    assert request.line == "OPTIONS /hook HTTP/1.1"
    assert request.headers["webhook-request-origin"] == "tidings.example"
    assert request.headers["webhook-request-rate"] == "120"
    assert "webhook-request-callback" not in request.headers
    anyone, asked = consented(answer_of(204, "webhook-allowed-origin: *", "webhook-allowed-rate: *", body=""))
    assert anyone == Consent(True)
    assert "webhook-request-rate" not in asked.requests[0].headers


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (answer_of(200), "has no WebHook-Allowed-Origin"),
        (answer_of(200, "webhook-allowed-origin: other.example"), "allows 'other.example'"),
        (answer_of(200, "webhook-allowed-origin: tidings.example.evil"), "allows 'tidings.example.evil'"),
        (answer_of(405, "webhook-allowed-origin: *"), "it answered 405 to OPTIONS"),
        (answer_of(302, "location: /", "webhook-allowed-origin: *"), "it answered 302 to OPTIONS"),
        (resetting, "the connection was reset before an answer came"),
        (silent, "no answer came within 0.3 s"),
    ],
)
def test_no_consent(answer: Any, problem: str) -> None:
    consent, _ = consented(answer)
    assert not consent.granted
    assert problem in consent.problem


def test_the_handshake_goes_nowhere_unsafe() -> None:
    with pytest.raises(UnsafeAddress):
        asyncio.run(WebhookChannel(HttpSender()).consent("https://127.0.0.1/", "tidings.example"))


def test_header_text_keeps_what_is_visible() -> None:
    assert header_text("a-Z0.~!#[]{}|") == "a-Z0.~!#[]{}|"
    assert header_text("a b\t\x7f€") == "a%20b%09%7F%E2%82%AC"
