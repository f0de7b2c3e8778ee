"""How numbers, times and values are written on a page. Text only: escaping is the templates' work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tidings.schema import Instant
from tidings.service.pages.parts.shown_event import shown_event, shown_value
from tidings.store import StoredChannel
from tidings.store.clock.clock import now

_SECOND = 1_000_000
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
    "sentence": sentence,
    "rhythm": rhythm,
    "trouble": trouble,
    "instant": instant,
}
