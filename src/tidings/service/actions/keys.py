"""Keys by which a request that is sent again is known, and the ids that follow from them."""

from __future__ import annotations

import secrets
from hashlib import sha256

from tidings.errors import Explained, ServiceError

_DIGITS = 20  # hexadecimal, of a subscription's id


class IdempotencyKeyReused(Explained, ServiceError):
    template = "this Idempotency-Key came with another request before; make a new key for each new request"


def subscription_id(owner: str, key: str | None) -> str:
    """A new id. Under a key it is always the same: after a crash the repeat finds what the first request made."""
    if key is None:
        return f"s-{secrets.token_hex(_DIGITS // 2)}"
    return f"s-{digest('subscription', owner, key).hex()[:_DIGITS]}"


def digest(*parts: str | bytes) -> bytes:
    """Of each part with its length, so that none runs into the next."""
    made = sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        made.update(len(data).to_bytes(8, "big") + data)
    return made.digest()
