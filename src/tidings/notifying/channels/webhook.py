"""The webhook channel: a delivery becomes one signed HTTP request (CloudEvents 1.0, Standard Webhooks 1.0), its
response an Attempt.

    settings {"kind": "webhook", "url": "https://…", "secrets": ["whsec_…", …]}: the newest secret first; each signs
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import msgspec

from tidings.errors import ChannelError, Explained, shown, suggestion
from tidings.notifying.delivery import Attempt, OutgoingDelivery, named
from tidings.notifying.http.addresses import Resolver, vet, vet_async
from tidings.notifying.http.response import HttpResponse
from tidings.notifying.http.sender import HttpSender, SendingFailed
from tidings.notifying.signatures import ID, SIGNATURE, TIMESTAMP, key_of, new_secret, sign
from tidings.schema import Instant

AGENT = "tidings"
MOST_SECRETS = 5  # at once; a rotation needs two
_MEMBERS = ("kind", "url", "secrets", "digest", "rate", "quiet")  # the last three are the rhythm's
_HEADER_SAFE = "".join(
    chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%'
)  # CloudEvents over HTTP, 3.1.3.2
_PLAIN = re.compile("[A-Za-z0-9._-]*")  # nearly every id
_WAITS = frozenset({429, 503})
_MANY_SECONDS = 10**9
_MICROSECONDS = 1_000_000

Fields = tuple[tuple[str, str], ...]


class InvalidWebhook(Explained, ChannelError):
    """A member of a webhook's settings, and what it must be."""

    member: str
    reason: str
    template = "the webhook's {member!v} {reason}"


@dataclass(frozen=True, slots=True)
class Consent:
    """Whether a receiver agrees to be sent to; else why not. `rate` is how many a minute it wants at most."""

    granted: bool
    problem: str = ""
    rate: int | None = None


class WebhookChannel:
    """`allow_loopback` is for development: it admits http and https to this machine, and nothing else."""

    kind = "webhook"

    def __init__(
        self,
        sender: HttpSender,
        *,
        allow_loopback: bool = False,
        resolver: Resolver | None = None,
        secret: Callable[[], str] = new_secret,
    ) -> None:
        self._sender = sender
        self._allow_loopback = allow_loopback
        self._resolver = resolver or Resolver()
        self._secret = secret

    def check(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """With a new secret where there is none. Blocks while the name is looked up (at most 5 s): call it in a
        thread. Raises InvalidWebhook, InvalidSecret, InvalidUrl, UnsafeAddress or UnresolvedHost."""
        for member in settings:
            if member not in _MEMBERS:
                raise InvalidWebhook(str(member), f"is not known{suggestion(str(member), _MEMBERS)}")
        url, secrets = settings.get("url"), settings.get("secrets")
        if not isinstance(url, str):
            raise InvalidWebhook("url", f"must be text such as https://example.org/hook, got {shown(url)}")
        if secrets is None:
            secrets = [self._secret()]
        if not isinstance(secrets, list | tuple) or not 1 <= len(secrets) <= MOST_SECRETS:
            raise InvalidWebhook("secrets", f"must be a list of 1 to {MOST_SECRETS} secrets")
        for secret in secrets:
            if not isinstance(secret, str):
                raise InvalidWebhook("secrets", "must be text, each of them")
            key_of(secret)
        target = vet(url, self._allow_loopback, self._resolver)
        return {**settings, "kind": self.kind, "url": target.url, "secrets": list(secrets)}

    async def send(self, delivery: OutgoingDelivery, settings: Mapping[str, Any], now: Instant) -> Attempt:
        began = time.perf_counter()
        url, body, timestamp = settings["url"], body_of(delivery), int(now) // _MICROSECONDS
        headers: Fields = (*headers_of(delivery), (ID, header_text(delivery.id)), (TIMESTAMP, str(timestamp)))
        request = "\n".join([f"POST {url}", *(f"{name}: {value}" for name, value in headers)])
        try:
            signature = sign(settings["secrets"], header_text(delivery.id), timestamp, body)
            target = await vet_async(url, self._allow_loopback, self._resolver)
            answer = await self._sender.send(target, "POST", (*headers, (SIGNATURE, signature)), body)
        except SendingFailed as problem:
            return Attempt(False, time.perf_counter() - began, request, problem=problem.reason)
        except ChannelError as problem:
            return Attempt(False, time.perf_counter() - began, request, problem=str(problem))
        return attempt_of(answer, time.perf_counter() - began, request, now)

    async def consent(self, url: str, origin: str, rate: int | None = None) -> Consent:
        """The handshake of CloudEvents' webhooks: does this receiver want deliveries from `origin` (a DNS name), `rate`
        a minute? Raises InvalidUrl, UnsafeAddress or UnresolvedHost; what the receiver does is in the Consent."""
        target = await vet_async(url, self._allow_loopback, self._resolver)
        headers = [("user-agent", AGENT), ("webhook-request-origin", header_text(origin))]
        if rate is not None:
            headers.append(("webhook-request-rate", str(rate)))
        try:
            answer = await self._sender.send(target, "OPTIONS", headers)
        except SendingFailed as problem:
            return Consent(False, problem.reason)
        allowed = (answer.header("webhook-allowed-origin") or "").strip()
        if not 200 <= answer.status < 300:
            return Consent(False, f"it answered {answer.status} to OPTIONS; expected 200")
        if allowed != "*" and allowed.lower() != header_text(origin).lower():
            said = f"allows {shown(allowed)}" if allowed else "has no WebHook-Allowed-Origin"
            return Consent(False, f"its answer to OPTIONS {said}; expected {shown(origin)} or '*'")
        granted = (answer.header("webhook-allowed-rate") or "").strip()
        return Consent(True, rate=int(granted) if re.fullmatch("[0-9]{1,9}", granted) else None)


def body_of(delivery: OutgoingDelivery) -> bytes:
    objects = [owed.as_json(delivery.subscription, delivery.filter, delivery.name) for owed in delivery.owed]
    if len(objects) == 1:
        return msgspec.json.encode(objects[0], enc_hook=dict)  # the event may be any mapping
    digest = {"id": delivery.id, **named(delivery.subscription, delivery.name), "notifications": objects}
    return msgspec.json.encode(digest, enc_hook=dict)


def headers_of(delivery: OutgoingDelivery) -> Fields:
    """All but those of Standard Webhooks. A test says so by `ce-test: true`."""
    headers = [
        ("user-agent", AGENT),
        ("content-type", "application/json"),
        ("ce-specversion", "1.0"),
        ("ce-source", f"/v1/subscriptions/{header_text(delivery.subscription)}"),
    ]
    if len(delivery.owed) == 1:
        (owed,) = delivery.owed
        headers += [("ce-type", "tidings.notification"), ("ce-id", header_text(owed.id))]
        headers += [("ce-time", str(owed.matched_at)), ("ce-sequence", str(owed.sequence))]
    else:
        headers += [("ce-type", "tidings.digest"), ("ce-id", header_text(delivery.id))]
        headers += [("ce-time", str(max(owed.matched_at for owed in delivery.owed)))] if delivery.owed else []
    return (*headers, *((("ce-test", "true"),) if delivery.test else ()))


def header_text(text: str) -> str:
    """As CloudEvents writes a value in a header: percent-encoded but for what is visible ASCII. So nobody's id can end
    the line."""
    return text if _PLAIN.fullmatch(text) else quote(text, safe=_HEADER_SAFE)


def attempt_of(answer: HttpResponse, seconds: float, request: str, now: Instant) -> Attempt:
    status = answer.status
    if 200 <= status < 300:
        return Attempt(True, seconds, request, status, answer.text)
    problem = f"it answered {status}"
    if 300 <= status < 400:
        problem += "; redirects are not followed"
    elif status == 410:
        problem += ": it wants nothing any more"
    waits = _seconds_of(answer.header("retry-after"), now) if status in _WAITS else None
    return Attempt(False, seconds, request, status, answer.text, problem, waits, gone=status == 410)


def _seconds_of(written: str | None, now: Instant) -> float | None:
    """Of a Retry-After: whole seconds, or a date. What cannot be read asks for nothing."""
    text = (written or "").strip()
    if text.isascii() and text.isdigit():
        return float(min(int(text[:12]), _MANY_SECONDS))
    try:
        until = Instant.of(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, (until - now) / _MICROSECONDS)
