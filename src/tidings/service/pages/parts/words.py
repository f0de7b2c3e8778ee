"""How numbers, times and values are written on a page. Text only: escaping is the templates' work."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tidings.schema import Instant
from tidings.service.pages.parts.highlight import marked
from tidings.service.pages.parts.shown_event import shown_event, shown_value
from tidings.service.workers.filter_trial import Trial
from tidings.store import StoredChannel
from tidings.store.clock.clock import now

_SECOND = 1_000_000
_FEW_TYPES = 3
_PLAIN_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z?", re.ASCII)
_STEPS = ((60, "second", 1), (3_600, "minute", 60), (86_400, "hour", 3_600), (30 * 86_400, "day", 86_400))
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def ago(time: Instant) -> str:
    """How long ago, roughly; for a time to come, how far off."""
    seconds = (now() - time) // _SECOND
    if -2 < seconds < 2:
        return "just now"
    distance = abs(seconds)
    for below, unit, size in _STEPS:
        if distance < below:
            count = distance // size
            text = f"{count} {unit}{'s' if count != 1 else ''}"
            return f"{text} ago" if seconds > 0 else f"in {text}"
    return str(time)[:10]


def moment(time: Instant) -> str:
    """To the second, for people; UTC."""
    return str(time)[:19].replace("T", " ") + " UTC"


def date(time: Instant) -> str:
    """The day, for people; UTC."""
    text = str(time)
    return f"{int(text[8:10])} {_MONTHS[int(text[5:7]) - 1]} {text[:4]}"


def rate(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value else "0"


def size(count: int) -> str:
    value = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:,.0f} {unit}" if unit == "bytes" else f"{value:,.1f} {unit}"
        value /= 1024
    raise AssertionError


def counted(count: int, noun: str, several: str = "") -> str:
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"


def sentence(text: str) -> str:
    """What an error or a receiver said, as a sentence: a capital first, and a full stop where none is."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", "…", ":")) or not text else ".")


def duration(seconds: int) -> str:
    """In the largest unit that fits it whole."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size} {unit}s" if seconds > size else unit
    return counted(seconds, "second")


def rhythm(settings: Mapping[str, Any]) -> list[str]:
    """When a channel sends, in words."""
    told = []
    if digest := settings.get("digest"):
        told.append(f"up to {digest['count']:,} in one, every {duration(digest['seconds'])}")
    if limit := settings.get("rate"):
        span = duration(limit["seconds"])
        told.append(f"at most {limit['count']:,} {'a' if span.isalpha() else 'in'} {span}")
    if quiet := settings.get("quiet"):
        told.append(f"quiet {quiet['from']} to {quiet['to']} {quiet['zone']}")
    return told


def trouble(channel: StoredChannel) -> str:
    """Why a channel sends nothing, or in vain, in a word; '' for one that is well."""
    return channel.state if channel.state != "active" else "failing" if channel.failing_since else ""


def tried_on(tried: Trial) -> str:
    """Of which events a filter matched some, as the end of a sentence; or that there are none, as a whole one."""
    if not tried.scanned and tried.event_types is None:
        return "There are no events yet to try it on."
    if not tried.scanned:
        return "There are no events yet of a type that it can match."
    told = f"of the last {counted(tried.scanned, 'event')}"
    if tried.event_types is not None:
        few = 0 < len(tried.event_types) <= _FEW_TYPES
        told += f" of type {' or '.join(tried.event_types)}" if few else " of the types that it can match"
    told += f", among the newest {tried.looked:,} of all types." if tried.looked is not None else "."
    if tried.errors:
        told += f" It ended in an error {counted(tried.errors, 'time')}, which counts as false: {tried.error}"
    return told


def time_field(text: str) -> str:
    """The type of a field for this time: anything but a plain time, e.g. '7d', stays as it was typed."""
    return "datetime-local" if not text or _PLAIN_TIME.fullmatch(text) else "text"


def time_value(text: str) -> str:
    return text.removesuffix("Z")


def number(count: int) -> str:
    return f"{count:,}"


def instant(milliseconds: int) -> Instant:
    return Instant(milliseconds * 1_000)


FILTERS: dict[str, Callable[..., Any]] = {
    "ago": ago,
    "moment": moment,
    "date": date,
    "rate": rate,
    "size": size,
    "counted": counted,
    "value": shown_value,
    "shown": shown_event,
    "number": number,
    "marked": marked,
    "tried_on": tried_on,
    "time_field": time_field,
    "time_value": time_value,
    "sentence": sentence,
    "rhythm": rhythm,
    "trouble": trouble,
    "instant": instant,
}
