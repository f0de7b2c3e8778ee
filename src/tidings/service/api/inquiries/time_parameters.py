"""Times in requests; an error names the parameter."""

from __future__ import annotations

from tidings.errors import Explained, ServiceError
from tidings.schema import Instant, moments
from tidings.schema.moments import WHEN


class NoMoment(Explained, ServiceError):
    """The parameter, and what was given for it."""

    name: str
    text: str
    template = f"{{name}}: {{text!v}} is not a time; write it like {WHEN}"


def moment(name: str, text: str, now: Instant) -> Instant:
    """`name` says what the text was given for. Raises NoMoment."""
    try:
        return moments.moment(text, now)
    except ValueError:
        raise NoMoment(name, text) from None
