"""Who is calling: a token in, a caller with its scopes out."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic

from tidings.errors import Explained, ServiceError
from tidings.settings import SCOPES
from tidings.store import Store

_REMEMBERED = 5.0  # seconds that a token may still work at another gateway after it was removed
_MOST_REMEMBERED = 10_000


class NoToken(Explained, ServiceError):
    template = (
        "this needs a token: register by POST /v1/accounts or log in by POST /v1/tokens, and send it as a bearer token"
    )


class UnknownToken(Explained, ServiceError):
    template = "the token is not valid: it is unknown, has expired or was revoked; log in again"


class OutOfScope(Explained, ServiceError):
    scope: str
    scopes: tuple[str, ...]
    template = "this needs the scope {scope!r}; the token has {listed}"

    @property
    def listed(self) -> str:
        return ", ".join(self.scopes) or "none"


@dataclass(frozen=True, slots=True)
class Caller:
    """`username` is empty for a guest, `digest` for a caller without a token."""

    username: str
    scopes: frozenset[str]
    digest: bytes = b""

    def need(self, scope: str) -> None:
        """Raises NoToken or OutOfScope."""
        if scope not in self.scopes:
            if not self.digest:
                raise NoToken
            raise OutOfScope(scope, tuple(one for one in SCOPES if one in self.scopes))

    @property
    def owner(self) -> str:
        """The name under which user data is read and written; raises NoToken for a guest."""
        if not self.username:
            raise NoToken
        return self.username


def new_token() -> str:
    return f"tid_{secrets.token_urlsafe(32)}"


def digest_of(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


class Callers:
    """Remembers tokens for some seconds, since a publisher sends the same one thousands of times a second.

    The token that was looked up longest ago makes room for a new one. Used by the event loop and its threads: each
    step on the dictionary is one call, which no other thread can interrupt.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[bytes, tuple[Caller, float]] = OrderedDict()

    def remembered(self, digest: bytes) -> Caller | None:
        found = self._known.get(digest)
        if found is None or found[1] < monotonic():
            return None
        return found[0]

    def was_known(self, digest: bytes) -> bool:
        """Whether it was valid when it was last looked up, however long ago."""
        return digest in self._known

    def look_up(self, digest: bytes) -> Caller:
        """Reads the store; raises UnknownToken."""
        token = self._store.token(digest)
        self._known.pop(digest, None)
        if token is None:
            raise UnknownToken
        caller = Caller(token.username, token.scopes, digest)
        self._known[digest] = (caller, monotonic() + _REMEMBERED)
        while len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)
        return caller

    def forget(self, digest: bytes | None = None) -> None:
        """After a token was removed, or an account changed."""
        if digest is None:
            self._known.clear()
        else:
            self._known.pop(digest, None)
