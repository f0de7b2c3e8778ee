"""Counts over time as bars that a template draws, each with words for its span."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidings.events.occurrence import TimeBar
from tidings.schema import Instant
from tidings.service.pages.parts.words import counted, date

WIDTH, HEIGHT = 600, 80
_LEAST = 2  # the height of a bar that counts something
_GAP = 1
_WIDEST = 60  # of few bars
_DAY = 86_400_000_000
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class Column:
    """`to`: an address that shows its events alone, or ''."""

    x: float
    y: float
    width: float
    height: float
    count: int
    told: str
    to: str


@dataclass(frozen=True, slots=True)
class TimeChart:
    columns: tuple[Column, ...]
    first: str
    last: str
    top: str
    summary: str
    width: float
    height: int = HEIGHT


def time_chart(bars: Sequence[TimeBar], to: Callable[[TimeBar], str] = lambda bar: "") -> TimeChart | None:
    """None where there is nothing to draw."""
    if not bars:
        return None
    most, total = max(bar.count for bar in bars), sum(bar.count for bar in bars)
    step = min(_WIDEST, WIDTH / len(bars))
    columns = []
    for place, bar in enumerate(bars):
        height = max(_LEAST, HEIGHT * bar.count / most) if bar.count else 0
        told = f"{_span(bar)}: {counted(bar.count, 'event')}"
        box = (round(step * place, 2), round(HEIGHT - height, 2), round(step - _GAP, 2), round(height, 2))
        columns.append(Column(*box, bar.count, told, to(bar) if bar.count else ""))
    first, last = _span(bars[0]), _span(bars[-1])
    period = first if len(bars) == 1 else f"{first} to {last}"
    summary = f"{counted(total, 'event')}, {period}, at most {most:,} in a bar"
    return TimeChart(tuple(columns), first, last if len(bars) > 1 else "", f"{most:,}", summary, WIDTH)


def _span(bar: TimeBar) -> str:
    """What it spans: a year, a month, a day, or from a time on."""
    start, last = str(bar.start), str(Instant(bar.end - 1))
    if start[5:10] == "01-01" and last[5:10] == "12-31":
        return start[:4] if start[:4] == last[:4] else f"{start[:4]} to {last[:4]}"
    if start[8:10] == "01" and (bar.end - bar.start) >= 28 * _DAY:
        months = [f"{_MONTHS[int(one[5:7]) - 1]} {one[:4]}" for one in (start, last)]
        return months[0] if months[0] == months[1] else f"{months[0]} to {months[1]}"
    if (bar.end - bar.start) >= _DAY:
        days = [date(bar.start), date(Instant(bar.end - 1))]
        return days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"
    seconds = "" if (bar.end - bar.start) % 60_000_000 == 0 else start[16:19]
    return f"{date(bar.start)}, {start[11:16]}{seconds} UTC"
