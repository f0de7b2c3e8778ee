"""Time events: `[every 5 min]`, `[every day at '09:00' in 'Europe/Athens']`. They happen by themselves, at the same
times for every composite.

On a day on which the clocks skip the time (in Athens 03:30 on the last Sunday of March), the event comes as much later
as the clocks were moved, at 04:30. On a day on which they show it twice, it comes the first time. So there is one event
a day, as in iCalendar (RFC 5545, 3.3.5). A day that a zone leaves out altogether has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import assert_never
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from tidings.language.composites.cursor import CompositeCursor
from tidings.language.composites.errors import UnknownZone, WrongPeriod, WrongTimeOfDay
from tidings.language.composites.tree import Every, EveryDay, TimeLeaf
from tidings.language.operand_text import operand_text
from tidings.schema.values import UNITS, Instant, Span

SOURCE = "time"  # of a time event; its id is the leaf's text and the time
_MONDAY = 4 * UNITS["day"]  # 1970-01-05T00:00:00Z, so that `every 1 week` is each Monday
_SHORTEST = UNITS["s"]
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")
_OFFSET = re.compile(r"([+-])([0-9]{2}):([0-9]{2})")


def time_events(leaf: TimeLeaf, since: Instant, until: Instant) -> Iterator[Instant]:
    """The times of the leaf's events in [since, until), in order."""
    match leaf:
        case Every(span):
            first = _MONDAY - (_MONDAY - since) // span * span
            yield from map(Instant, range(first, until, span))
        case EveryDay(clock, name):
            yield from _days(clock, zone(name), since, until)
        case _:
            assert_never(leaf)


def _days(clock: time, place: tzinfo, since: Instant, until: Instant) -> Iterator[Instant]:
    before = since - 1
    for ordinal in range(_ordinal(since) - 2, _ordinal(until) + 3):  # local dates are at most a day off
        if not date.min.toordinal() <= ordinal <= date.max.toordinal():
            continue
        try:
            moment = Instant.of(datetime.combine(date.fromordinal(ordinal), clock, place))
        except ValueError:
            continue  # in UTC it lies outside the years 1 to 9999
        if before < moment < until:
            yield moment
            before = moment


def _ordinal(instant: Instant) -> int:
    return date(1970, 1, 1).toordinal() + instant // UNITS["day"]


def time_event_id(leaf: TimeLeaf, at: Instant) -> str:
    """`every 5 min, 2026-05-01T09:00:00Z`: two leaves with the same text have the same events."""
    return f"{time_text(leaf)}, {at}"


@lru_cache(maxsize=256)
def zone(name: str) -> tzinfo:
    """Of a name such as Europe/Athens or an offset such as +02:00; raises ValueError."""
    if name == "UTC":
        return UTC
    if offset := _OFFSET.fullmatch(name):
        sign, hours, minutes = offset.groups()
        if int(hours) > 23 or int(minutes) > 59:
            raise ValueError(name)
        size = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-size if sign == "-" else size)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        raise ValueError(name) from None


def opens_time_leaf(cursor: CompositeCursor) -> bool:
    """No filter has a number or a name after its first name."""
    following = cursor.kinds[cursor.next + 1] if cursor.kinds[cursor.next] == "name" else ""
    return cursor.written[cursor.next].lower() == "every" and following in ("number", "name")


def parse_time_leaf(cursor: CompositeCursor, at: int) -> TimeLeaf:
    cursor.next += 1
    if not cursor.word("day"):
        place = cursor.offsets[cursor.next]
        span = cursor.span("every")
        if not _SHORTEST <= span <= cursor.limits.frame:
            raise WrongPeriod(cursor.text, place, cursor.limits.frame)
        return Every(span, at=at)
    if not cursor.word("at"):
        cursor.unexpected("'at' and a time of day, e.g. every day at '09:00'; else write every 1 day")
    place = cursor.offsets[cursor.next]
    clock = parse_clock(cursor.literal("a time of day in quotes, e.g. '09:00'"))
    if clock is None:
        raise WrongTimeOfDay(cursor.text, place, cursor.written[cursor.next - 1][1:-1])
    if not cursor.keyword("in"):
        return EveryDay(clock, at=at)
    place = cursor.offsets[cursor.next]
    name = cursor.literal("a time zone in quotes, e.g. 'Europe/Athens'")
    try:
        zone(name)
    except ValueError:
        raise UnknownZone(cursor.text, place, name, tuple(available_timezones())) from None
    return EveryDay(clock, name, at=at)


def parse_clock(text: str) -> time | None:
    """`9:00`, `18:30:15`; None where it is not a time of day."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return time(hours, minutes, seconds) if hours < 24 and minutes < 60 and seconds < 60 else None


def time_text(leaf: TimeLeaf) -> str:
    match leaf:
        case Every(span):
            return f"every {Span(span)}"
        case EveryDay(clock, name):
            shown = clock.isoformat("seconds" if clock.second else "minutes")
            return f"every day at '{shown}' in {operand_text(name)}"
        case _:
            assert_never(leaf)
