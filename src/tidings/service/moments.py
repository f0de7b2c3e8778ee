"""Moments in requests: what is no time is told with the parameter it was given for."""

from __future__ import annotations

from tidings.errors import ServiceError, shown
from tidings.schema import Instant, moments
from tidings.schema.moments import WHEN


class NoMoment(ServiceError):
    """(parameter, text)"""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name, text)

    def __str__(self) -> str:
        name, text = self.args
        return f"{name}: {shown(text)} is no time; write it like {WHEN}"


def moment(name: str, text: str, now: Instant) -> Instant:
    """`name` says what the text was given for. Raises NoMoment."""
    try:
        return moments.moment(text, now)
    except ValueError:
        raise NoMoment(name, text) from None
