"""Single values in the one form that the inside of Tidings knows: numbers, instants and text.

Raw values come from JSON, CSV, Parquet, XML and filter texts; what leaves here is canonical: equal values are
equal in Python.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from tidings.errors import SchemaError

LARGEST_INTEGER = 2**53  # beyond it neighbouring integers fall together in a 64-bit float
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST_INSTANT = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST_INSTANT = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND

Number = int | float
Value = int | float | str  # an Instant is an int, a Place a str
UNITS = {
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}  # of a span, in microseconds


class NotText(SchemaError):
    """A value that UTF-8, and so neither Arrow nor a file, can hold."""

    where: str
    value: str
    template = "{where}: {value!v} contains an unpaired surrogate"


class Place(str):
    """A point on the earth, as the text of its latitude and longitude in degrees: equal points are equal texts."""

    __slots__ = ()

    @classmethod
    def of(cls, latitude: object, longitude: object) -> Place:
        """The date line is at 180, not -180, and a pole at longitude 0. Raises ValueError."""
        north, east = number(latitude), number(longitude)
        if not -90 <= north <= 90:
            raise ValueError(f"the latitude {north!r} is not between -90 and 90")
        if not -180 <= east <= 180:
            raise ValueError(f"the longitude {east!r} is not between -180 and 180")
        east = 0 if abs(north) == 90 else 180 if east == -180 else east
        return cls(f"{north!r},{east!r}")

    @classmethod
    def parse(cls, text: str) -> Place:
        """Reads `37.8, -122.4`. Raises ValueError."""
        parts = text.split(",")
        if len(parts) != 2:
            raise ValueError(f"{text[:60]!r} is not a place; expected e.g. '37.8, -122.4'")
        return cls.of(*(float(part) for part in parts))

    @property
    def degrees(self) -> tuple[float, float]:
        """Latitude and longitude."""
        latitude, _, longitude = self.partition(",")
        return float(latitude), float(longitude)

    @property
    def pair(self) -> list[Number]:
        """As JSON has it."""
        return [number(part) for part in self.degrees]

    def __repr__(self) -> str:
        return f"Place({str(self)!r})"


class Span(int):
    """A length of time in microseconds; it may be negative."""

    __slots__ = ()

    def __str__(self) -> str:
        """`2 h`: in the largest unit of which it is a whole number, else in seconds."""
        for unit, size in reversed(UNITS.items()):
            if self and self % size == 0:
                return f"{self // size} {unit}"
        whole, rest = divmod(abs(int(self)), 1_000_000)
        return f"{'-' if self < 0 else ''}{whole}.{rest:06d}".rstrip("0").rstrip(".") + " s"

    def __repr__(self) -> str:
        return f"Span({str(self)!r})"


class Instant(int):
    """A point in time: microseconds since 1970-01-01T00:00:00 UTC."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Instant:
        """Reads ISO 8601; without a zone it is UTC. Raises ValueError."""
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(f"{text[:60]!r} is not an ISO 8601 time; expected e.g. '2026-05-01T10:00:00Z'") from None
        return cls.of(moment)

    @classmethod
    def of(cls, moment: datetime) -> Instant:
        """Without a zone it is UTC. Raises ValueError where that is outside the years 1 to 9999."""
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        microseconds = (moment - _EPOCH) // _MICROSECOND
        if not _FIRST_INSTANT <= microseconds <= _LAST_INSTANT:
            raise ValueError(f"{moment.isoformat()} is outside the years 1 to 9999 in UTC")
        return cls(microseconds)

    def __str__(self) -> str:
        moment = _EPOCH + timedelta(microseconds=int(self))
        return moment.replace(tzinfo=None).isoformat() + "Z"

    def __repr__(self) -> str:
        return f"Instant({str(self)!r})"


def is_text(value: str) -> bool:
    """Whether it is Unicode text: half of a surrogate pair, which JSON can smuggle in by escape, is not."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def number(value: object) -> Number:
    """The canonical number; raises ValueError with the reason where there is none.

    Integers stay integers and integral floats become them, so that 1 and 1.0 print alike; -0.0 is 0.
    """
    if type(value) is int:
        if -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
            return value
        raise ValueError("integers beyond ±2^53 would lose digits")
    if type(value) is float:
        if not math.isfinite(value):
            raise ValueError("NaN and infinities are not allowed")
        if value.is_integer() and -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
            return int(value)
        return value
    if type(value) is bool:
        raise ValueError("a Boolean is not a number")
    if type(value) is str:
        raise ValueError(
            "expected a number without quotes" if _looks_like_one(value) else "expected a number, got text"
        )
    raise ValueError("expected a number")


def _looks_like_one(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
