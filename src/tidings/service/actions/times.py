"""Times that somebody typed: of an expiry, a token's end, a period."""

from __future__ import annotations

from tidings.errors import Explained, ServiceError
from tidings.schema import Instant
from tidings.store.clock.clock import now


class WrongTime(Explained, ServiceError):
    """The member that should be a time, what it was, and what is wrong with it."""

    member: str
    text: str
    what: str
    template = "{member!r}: {text!v} {what}"


def read_time(member: str, text: str) -> Instant:
    """Raises WrongTime."""
    try:
        return Instant.parse(text)
    except (ValueError, OverflowError):
        raise WrongTime(member, text, "is not an ISO 8601 time; expected e.g. '2030-05-01T10:00:00Z'") from None


def read_future_time(member: str, text: str) -> Instant:
    """Raises WrongTime."""
    time = read_time(member, text)
    if time <= now():
        raise WrongTime(member, text, "has already passed")
    return time
