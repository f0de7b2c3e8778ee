"""When a channel may send: digest, rate and quiet hours. They delay, they never drop.

    {"digest": {"count": 50, "seconds": 3600}, "rate": {"count": 10, "seconds": 60},
     "quiet": {"from": "22:00", "to": "07:00", "zone": "Europe/Athens"}}

The service reads a rhythm to refuse a wrong one, the outbox to know when a delivery is due. Pure functions of time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from tidings.errors import suggestion
from tidings.notifying.errors import InvalidRhythm, UnknownTimeZone
from tidings.schema import Instant

MOST_IN_A_DIGEST = 1_000
LONGEST_DIGEST = 7 * 86_400  # seconds
# When only a count is given: the last notifications before a subscription ends must not wait forever.
UNSAID_DIGEST = 86_400
MOST_IN_A_RATE = 1_000  # that many times are remembered
LONGEST_RATE = 86_400
_MICROSECONDS = 1_000_000
_CLOCK_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Digest:
    """Sent when it holds `count` notifications, or `seconds` after the first."""

    count: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `count` deliveries begin within any `seconds`."""

    count: int
    seconds: int


@dataclass(frozen=True, slots=True)
class QuietHours:
    """Quiet while clocks in the zone show a time from `begin` up to `end`, possibly over midnight."""

    begin: time
    end: time
    zone: str

    def hold(self, now: Instant) -> bool:
        shown = _local(now, self.zone).time()
        if self.begin < self.end:
            return self.begin <= shown < self.end
        return shown >= self.begin or shown < self.end

    def over(self, now: Instant) -> Instant:
        """`now`, or the first moment after it that is not quiet."""
        if not self.hold(now):
            return now
        today = _local(now, self.zone).date()
        ends = (end for days in range(3) for end in self._ends(today + timedelta(days=days)))
        later = min(end for end in ends if end > now and not self.hold(end))
        return self._first_not_quiet(now, later)

    def _ends(self, day: date) -> tuple[Instant, Instant]:
        """Both, where clocks are put back and show the time twice; where they skip it, one before and one after."""
        zone = ZoneInfo(self.zone)
        first, second = (datetime.combine(day, self.end, zone).replace(fold=fold) for fold in (0, 1))
        return Instant.of(first), Instant.of(second)

    def _first_not_quiet(self, quiet: Instant, loud: Instant) -> Instant:
        """When clocks skip the end, quiet ends with the skip, found by bisection."""
        if _local(loud, self.zone).time() == self.end:
            return loud
        while loud - quiet > 1:
            middle = Instant((quiet + loud) // 2)
            quiet, loud = (middle, loud) if self.hold(middle) else (quiet, middle)
        return loud


@dataclass(frozen=True, slots=True)
class Rhythm:
    digest: Digest | None = None
    rate: Rate | None = None
    quiet: QuietHours | None = None

    @property
    def most(self) -> int:
        """Notifications in one delivery."""
        return 1 if self.digest is None else self.digest.count

    @property
    def longest(self) -> int:
        """Microseconds for which a digest collects."""
        return 0 if self.digest is None else self.digest.seconds * _MICROSECONDS

    def due(self, now: Instant, recent: Sequence[int]) -> tuple[Instant, list[int]]:
        """When the next delivery may be sent after the recent ones, and the recent times including it."""
        earliest = self.allowed(now, recent)
        if self.rate is None:
            return earliest, []
        return earliest, [*recent, int(earliest)][-self.rate.count :]

    def allowed(self, now: Instant, recent: Sequence[int]) -> Instant:
        if self.rate is not None:
            if len(recent) >= self.rate.count:
                now = Instant(max(now, recent[-self.rate.count] + self.rate.seconds * _MICROSECONDS))
            if recent:
                now = Instant(max(now, recent[-1]))
        return self.awake(now)

    def awake(self, now: Instant) -> Instant:
        return now if self.quiet is None else self.quiet.over(now)


def read_rhythm(settings: Mapping[str, Any]) -> Rhythm:
    """Reads it from a channel's settings; ignores other members. Raises InvalidRhythm or UnknownTimeZone."""
    return Rhythm(_digest(settings.get("digest")), _rate(settings.get("rate")), _quiet(settings.get("quiet")))


def rhythm_json(rhythm: Rhythm) -> dict[str, Any]:
    """The canonical form, kept in a channel's settings."""
    made: dict[str, Any] = {}
    if rhythm.digest is not None:
        made["digest"] = {"count": rhythm.digest.count, "seconds": rhythm.digest.seconds}
    if rhythm.rate is not None:
        made["rate"] = {"count": rhythm.rate.count, "seconds": rhythm.rate.seconds}
    if rhythm.quiet is not None:
        quiet = rhythm.quiet
        made["quiet"] = {"from": f"{quiet.begin:%H:%M}", "to": f"{quiet.end:%H:%M}", "zone": quiet.zone}
    return made


def _digest(given: object) -> Digest | None:
    if given is None:
        return None
    members = _members("digest", given, ("count", "seconds"))
    if not members:
        raise InvalidRhythm("digest", "an object with a count, seconds or both", given)
    count = _whole("digest.count", members.get("count", MOST_IN_A_DIGEST), 2, MOST_IN_A_DIGEST)
    seconds = _whole("digest.seconds", members.get("seconds", UNSAID_DIGEST), 1, LONGEST_DIGEST)
    return Digest(count, seconds)


def _rate(given: object) -> Rate | None:
    if given is None:
        return None
    members = _members("rate", given, ("count", "seconds"))
    count = _whole("rate.count", members.get("count"), 1, MOST_IN_A_RATE)
    return Rate(count, _whole("rate.seconds", members.get("seconds"), 1, LONGEST_RATE))


def _quiet(given: object) -> QuietHours | None:
    if given is None:
        return None
    members = _members("quiet", given, ("from", "to", "zone"))
    begin, end = _clock_time("quiet.from", members.get("from")), _clock_time("quiet.to", members.get("to"))
    if begin == end:
        raise InvalidRhythm("quiet.to", "another time than quiet.from", members["to"])
    zone = members.get("zone")
    if not isinstance(zone, str):
        raise InvalidRhythm("quiet.zone", "the name of a time zone such as 'Europe/Athens'", zone)
    if zone not in _zones():
        raise UnknownTimeZone(zone, sorted(_zones()))
    return QuietHours(begin, end, zone)


def _members(name: str, given: object, legal: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidRhythm(name, f"an object with {', '.join(legal)}", given)
    for member in given:
        if member not in legal:
            raise InvalidRhythm(name, f"an object with {', '.join(legal)}{suggestion(str(member), legal)}", member)
    return given


def _whole(name: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidRhythm(name, f"a whole number from {least:,} to {most:,}", value)
    return value


def _clock_time(name: str, value: object) -> time:
    found = _CLOCK_TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise InvalidRhythm(name, "a time of day such as '22:00'", value)
    return time(int(found[1]), int(found[2]))


def _local(now: Instant, zone: str) -> datetime:
    return (_EPOCH + timedelta(microseconds=int(now))).astimezone(ZoneInfo(zone))


@lru_cache(1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())
