"""Numbers in a row as the points of an SVG line. The templates draw it, so all text goes through their escaping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log10

WIDTH, HEIGHT = 320, 90
SPARK_WIDTH, SPARK_HEIGHT = 120, 28
_MOST_POINTS = 100


@dataclass(frozen=True, slots=True)
class Chart:
    """`line` and `area` are point lists of `polyline` and `polygon`; `top` is the value at the upper edge."""

    title: str
    unit: str
    now: str
    line: str
    area: str
    top: float
    summary: str
    period: str = ""
    width: int = WIDTH
    height: int = HEIGHT


def chart(title: str, unit: str, now: str, values: Sequence[float], seconds: float) -> Chart:
    """A line over the last `seconds`; long rows are drawn by the greatest of neighbours."""
    drawn = _thinned(values)
    top = _nice(max(drawn, default=0.0))
    line, area = _points(drawn, top, WIDTH, HEIGHT)
    summary = f"{title}: now {now} {unit}, at most {max(values, default=0):,.1f} in the last {_period(seconds)}"
    return Chart(title, unit, now, line, area, top, summary, _period(seconds))


def spark(counts: Sequence[int], period: str) -> Chart:
    """A small one, of counts."""
    line, area = _points(counts, max(1, *counts) if counts else 1, SPARK_WIDTH, SPARK_HEIGHT)
    total = sum(counts)
    summary = f"{total:,} match{'' if total == 1 else 'es'} in the last {period}"
    return Chart("matches", "", f"{total:,}", line, area, 0, summary, period, SPARK_WIDTH, SPARK_HEIGHT)


def _points(values: Sequence[float], top: float, width: int, height: int) -> tuple[str, str]:
    if not values:
        return "", ""
    step = width / max(1, len(values) - 1)
    usable = height - 4  # the line's thickness stays inside
    places = [(step * i, height - 2 - usable * min(1.0, value / top)) for i, value in enumerate(values)]
    if len(places) == 1:
        places.append((float(width), places[0][1]))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return line, f"0,{height} {line} {width},{height}"


def _thinned(values: Sequence[float]) -> list[float]:
    size = ceil(len(values) / _MOST_POINTS) or 1
    return [max(values[start : start + size]) for start in range(0, len(values), size)]


def _nice(most: float) -> float:
    """1, 2 or 5 times a power of ten, at least as great."""
    if most <= 1:
        return 1.0
    power = 10.0 ** int(log10(most))
    return float(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= most))


def _period(seconds: float) -> str:
    return f"{max(1, round(seconds / 60))} min" if seconds >= 60 else f"{max(1, round(seconds))} s"
