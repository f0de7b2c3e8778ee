"""Requests in progress by account, and bytes of bodies by account or address, each with a limit.

A caller at its limit gets 429; others are not affected. Small bodies are not counted: what a connection
buffers bounds them already. Of a stream of lines only the unfinished line counts: the others are soon appended.
"""

from __future__ import annotations

from collections import Counter

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

from tidings.errors import Explained, ServiceError
from tidings.settings import Settings

SMALL = 1 << 16  # bytes
_SHARE = 4  # one account may have a quarter of the connections, and of the bytes
_GUESTS_SHARE = 16  # an address without a token may have one sixteenth of the bytes


class TooManyAtOnce(Explained, ServiceError):
    """How many requests of one account may be in progress."""

    seconds = 1
    most: int
    template = "this account has {most!n} requests in progress, the most allowed; wait for one to finish"


class TooManyBytes(HTTPException):
    """Raised while a body is read, inside the web framework, which lets no other kind of error through there."""

    def __init__(self) -> None:
        detail = "too many large bodies in progress; retry when the others are done"
        super().__init__(429, detail, {"Retry-After": "1", "Connection": "close"})


class BodyTooLarge(HTTPException):
    def __init__(self, largest: int) -> None:
        detail = f"the body is larger than {largest:,} bytes; send it in several requests"
        super().__init__(413, detail, {"Connection": "close"})


class InFlight:
    """Of one event loop. `who` is an account, or an address."""

    def __init__(self, settings: Settings) -> None:
        self._most_requests = max(1, settings.connections // _SHARE)
        self._most_bytes = settings.bytes_in_flight
        self._requests: dict[str, int] = {}
        self._bytes: Counter[str] = Counter()
        self._all_bytes = 0

    def enter(self, account: str) -> None:
        """Raises TooManyAtOnce."""
        count = self._requests.get(account, 0)
        if count >= self._most_requests:
            raise TooManyAtOnce(self._most_requests)
        self._requests[account] = count + 1

    def leave(self, account: str) -> None:
        count = self._requests[account] - 1
        if count:
            self._requests[account] = count
        else:
            del self._requests[account]

    def take(self, who: str, size: int, is_guest: bool) -> None:
        """Raises TooManyBytes. A single body may always be as large as it is allowed to be."""
        held = self._bytes[who]
        share = self._most_bytes // (_GUESTS_SHARE if is_guest else _SHARE)
        if (held and held + size > share) or (self._all_bytes and self._all_bytes + size > self._most_bytes):
            raise TooManyBytes
        self._bytes[who] = held + size
        self._all_bytes += size

    def give_back(self, who: str, size: int) -> None:
        self._all_bytes -= size
        self._bytes[who] -= size
        if not self._bytes[who]:
            del self._bytes[who]

    def hold(self, who: str, before: int, now: int, is_guest: bool) -> None:
        """What it held has become more, or less. Raises TooManyBytes."""
        if now > before:
            self.take(who, now - before, is_guest)
        elif now < before:
            self.give_back(who, before - now)


class BoundedBody:
    """The `receive` of a request with a body: raises BodyTooLarge or TooManyBytes as soon as the body is asked for and
    known to be too much. `announced` is its size, None where the end will show it; of a stream of lines, `line` is the
    size of the longest that is kept."""

    def __init__(self, receive: Receive, largest: int, announced: int | None, line: int | None = None) -> None:
        self._receive = receive
        self._largest = largest
        self._announced = announced
        self._longest_line = line
        self._line = 0  # bytes of the one that is not complete
        self._received = self._held = 0
        self._in_flight: InFlight | None = None
        self._who, self._is_guest = "", True

    def count_in(self, in_flight: InFlight, who: str, is_guest: bool) -> None:
        self._in_flight, self._who, self._is_guest = in_flight, who, is_guest

    async def __call__(self) -> Message:
        if self._announced is not None and not self._received:
            self._check(self._announced)
            self._hold(self._announced)
        message = await self._receive()
        size = len(message.get("body", b""))
        self._received += size
        if self._longest_line is not None:
            self._hold_line(message.get("body", b""), self._longest_line)
        if self._announced is None:  # else the server reads no more than was announced
            self._check(self._received)
            self._hold(size)
        return message

    def end(self) -> None:
        """The request is over, and what it held is free."""
        if self._held and self._in_flight is not None:
            self._in_flight.give_back(self._who, self._held)
            self._held = 0

    def _check(self, size: int) -> None:
        if size > self._largest:
            raise BodyTooLarge(self._largest)

    def _hold(self, size: int) -> None:
        if self._in_flight is None or self._longest_line is not None or (self._announced is not None and self._held):
            return
        self._in_flight.take(self._who, size, self._is_guest)
        self._held += size

    def _hold_line(self, body: bytes, longest: int) -> None:
        end = body.rfind(b"\n")
        self._line = len(body) - end - 1 if end >= 0 else self._line + len(body)
        held = self._line if SMALL < self._line <= longest else 0  # one that is too long is passed over
        if self._in_flight is None:
            return
        self._in_flight.hold(self._who, self._held, held, self._is_guest)
        self._held = held
