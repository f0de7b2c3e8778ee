"""Keys by which a request that is sent again is known, and the ids that follow from them."""

from __future__ import annotations

import secrets
from hashlib import sha256

from tidings.errors import Explained, ServiceError

_DIGITS = 20  # hexadecimal, of a subscription's id


class IdempotencyKeyReused(Explained, ServiceError):
    template = "this Idempotency-Key was used for another request; use a new key for each request"


def subscription_id(owner: str, key: str | None) -> str:
    """A new id. Under a key it is always the same: after a crash the repeat finds what the first request made."""
    if key is None:
        return f"s-{secrets.token_hex(_DIGITS // 2)}"
    return f"s-{digest('subscription', owner, key).hex()[:_DIGITS]}"


class EventIds:
    """Ids for events that came without one, under an Idempotency-Key: sent again, each is the same event and known as a
    duplicate. They follow from the content, too, so that another event under a used key is never taken for the first.
    """

    def __init__(self, owner: str, key: str, body: bytes = b"") -> None:
        self._seed = digest("event", owner, key, body)

    def of(self, line: int, content: bytes = b"") -> str:
        return digest(self._seed, str(line), content).hex()[:32]


def digest(*parts: str | bytes) -> bytes:
    """Of each part with its length, so that none runs into the next."""
    made = sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        made.update(len(data).to_bytes(8, "big") + data)
    return made.digest()
