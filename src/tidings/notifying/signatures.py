"""Standard Webhooks 1.0: how a delivery is signed, and how a receiver knows that it is genuine.

A receiver needs this module alone (it imports nothing but the standard library and Tidings' errors):

    id = verify(request.headers, body, "whsec_…", time.time())      # raises SignatureError
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets as randomness
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from tidings.errors import ChannelError, Explained

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
PREFIX = "whsec_"
TOLERANCE = 300.0  # seconds
_LEAST, _MOST = 24, 64  # bytes of a secret, as the standard has it
_MADE = 32


class SignatureError(ChannelError):
    """A delivery that a receiver must not believe."""


class MissingHeader(Explained, SignatureError):
    name: str
    template = "the delivery has no header {name}, or an unreadable one; it is not signed, so do not use it"


class StaleTimestamp(Explained, SignatureError):
    """The timestamp, the receiver's time, and how far apart they may be."""

    timestamp: int
    now: float
    tolerance: float
    template = "the delivery is {apart}, {tolerance:g} s are allowed; it may be a replay, or a clock may be wrong"

    @property
    def apart(self) -> str:
        return f"{abs(self.now - self.timestamp):,.0f} s {'old' if self.now > self.timestamp else 'in the future'}"


class WrongSignature(Explained, SignatureError):
    """The delivery's id."""

    id: str
    template = (
        "no signature of delivery {id!v} is valid: another secret was used, or the body was changed; "
        "verify the raw body, before parsing it"
    )


class InvalidSecret(Explained, ChannelError):
    """The text is not kept here: it may be nearly a secret."""

    reason: str
    template = f"the signing secret {{reason}}; expected {PREFIX} followed by {_LEAST} to {_MOST} bytes in base64"


class Headers(Protocol):
    """Whatever a framework has: a dict, or what http.server, Starlette and Flask call headers."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def new_secret(random: Callable[[int], bytes] = randomness.token_bytes) -> str:
    return PREFIX + base64.b64encode(random(_MADE)).decode()


def key_of(secret: str) -> bytes:
    """The bytes that sign. Raises InvalidSecret."""
    if not secret.startswith(PREFIX):
        raise InvalidSecret(f"does not begin with {PREFIX}")
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidSecret("is not base64") from None
    if not _LEAST <= len(key) <= _MOST:
        raise InvalidSecret(f"has {len(key)} bytes")
    return key


def sign(secrets: str | Sequence[str], id: str, timestamp: int, body: bytes) -> str:
    """The value of `webhook-signature`: one signature for each secret, so that a receiver may change to a new one at
    its leisure. Raises InvalidSecret."""
    signed = f"{id}.{timestamp}.".encode() + body
    return " ".join(f"v1,{_signature(key_of(secret), signed)}" for secret in _listed(secrets))


def verify(
    headers: Headers, body: bytes, secrets: str | Sequence[str], now: float, tolerance: float = TOLERANCE
) -> str:
    """The delivery's id, the same in every attempt: what came before may be dropped. Raises SignatureError, or
    InvalidSecret for the receiver's own secret. `now` is the receiver's time in seconds since 1970."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        found.setdefault(name.lower(), value)
    for name in (ID, TIMESTAMP, SIGNATURE):
        if not found.get(name):
            raise MissingHeader(name)
    id, written = found[ID], found[TIMESTAMP]
    if not id.isascii():
        raise MissingHeader(ID)
    if not (written.isascii() and written.isdigit() and len(written) <= 12):
        raise MissingHeader(TIMESTAMP)
    timestamp = int(written)
    keys = [key_of(secret) for secret in _listed(secrets)]
    signed = f"{id}.{written}.".encode() + body
    given = [
        one.removeprefix("v1,").encode(errors="replace") for one in found[SIGNATURE].split(" ") if one.startswith("v1,")
    ]
    fits = False
    for key in keys:
        expected = _signature(key, signed).encode()
        for signature in given:
            fits |= hmac.compare_digest(expected, signature)  # no early end: the time taken tells nothing
    if not fits:
        raise WrongSignature(id)
    if abs(now - timestamp) > tolerance:
        raise StaleTimestamp(timestamp, now, tolerance)
    return id


def _listed(secrets: str | Sequence[str]) -> list[str]:
    listed = [secrets] if isinstance(secrets, str) else list(secrets)
    if not listed:
        raise InvalidSecret("is missing")
    return listed


def _signature(key: bytes, signed: bytes) -> str:
    # Not hmac.digest: it lets go of the interpreter, and a busy thread gives that back milliseconds later.
    return base64.b64encode(hmac.new(key, signed, "sha256").digest()).decode()
