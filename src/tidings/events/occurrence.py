"""When stored events happened: read from their JSON without the rest, and counted by hour, day, month or year."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

import msgspec

from tidings.schema.values import Instant

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_FIRST_DAY = date(1970, 1, 1).toordinal()
# Each at least twice the one before, so that a chart is at least half full.
_STEPS = tuple(
    size * _SECOND for size in (1, 5, 15, 60, 300, 900, 3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600, 86_400, 7 * 86_400)
)
_MONTHS = (1, 3, 12, 60, 120, 600, 1_200, 6_000, 12_000, 60_000, 120_000)
_MONDAY = 4 * _DAY  # 1970-01-05: weeks begin there


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """What an event's JSON says besides its attributes, as far as searches ask for it."""

    event_type: str | list[str]
    time: str | None = None

    @property
    def event_types(self) -> tuple[str, ...]:
        return (self.event_type,) if isinstance(self.event_type, str) else tuple(self.event_type)

    def occurred(self, accepted: int) -> int:
        """Microseconds; an event without a time happened when it was accepted."""
        if self.time is None:
            return accepted
        try:
            return int(Instant.parse(self.time))
        except ValueError:  # the journal was damaged
            return accepted


_decode = msgspec.json.Decoder(Envelope).decode


def read_envelope(payload: str) -> Envelope | None:
    """None where the journal was damaged."""
    try:
        return _decode(payload)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def occurred(payload: str, accepted: int) -> int:
    """When the event of this JSON happened, in microseconds."""
    envelope = read_envelope(payload)
    return accepted if envelope is None else envelope.occurred(accepted)


@dataclass(frozen=True, slots=True)
class TimeBar:
    """How many happened in [start, end)."""

    start: Instant
    end: Instant
    count: int


def time_bars(times: Iterable[int], most: int = 60) -> tuple[TimeBar, ...]:
    """At most so many bars side by side, from the first time to the last, in the smallest unit that allows it: seconds,
    minutes, hours, days, weeks, months, years. All times are UTC; a Counter says how often each one occurs."""
    counted = times if isinstance(times, Counter) else Counter(times)
    if not counted:
        return ()
    first, last = min(counted), max(counted)
    for step in _STEPS:
        shift = _MONDAY if step == 7 * _DAY else 0
        low, high = (first - shift) // step, (last - shift) // step
        if high - low < most:
            bars = _sums({time: (time - shift) // step for time in counted}, counted)
            edges = [Instant(place * step + shift) for place in range(low, high + 2)]
            return _bars(edges, bars, low)
    for months in _MONTHS:
        low, high = _month(first) // months, _month(last) // months
        if high - low < most:
            break
    bars = _sums({time: _month(time) // months for time in counted}, counted)
    return _bars([_month_start(place * months) for place in range(low, high + 2)], bars, low)


def _sums(places: dict[int, int], counted: Counter[int]) -> Counter[int]:
    sums = Counter[int]()
    for time, place in places.items():
        sums[place] += counted[time]
    return sums


def _bars(edges: list[Instant], sums: Counter[int], low: int) -> tuple[TimeBar, ...]:
    return tuple(TimeBar(start, end, sums[low + place]) for place, (start, end) in enumerate(pairwise(edges)))


def _month(time: int) -> int:
    """Months since the year 0."""
    found = date.fromordinal(time // _DAY + _FIRST_DAY)
    return found.year * 12 + found.month - 1


def _month_start(month: int) -> Instant:
    year, place = divmod(month, 12)
    if year < 1:
        return Instant.parse("0001-01-01")
    return Instant.parse("9999-12-31T23:59:59.999999" if year > 9999 else f"{year:04}-{place + 1:02}-01")
