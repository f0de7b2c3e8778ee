"""Numbers in a row as the points of an SVG line, or as bars. The templates draw it, so all text goes through their
escaping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from tidings.service.pages.parts.words import counted
from tidings.store.pages.recent import MOST_IN_BIN

WIDTH, HEIGHT = 320, 90
SPARK_WIDTH, SPARK_HEIGHT = 120, 28
_MOST_POINTS = 100
_EDGE = 2  # the line's thickness stays inside
_GAP = 1  # between bars
_STEPS = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True, slots=True)
class Chart:
    """`line` and `area` are point lists of `polyline` and `polygon`; `top` is the value at the upper grid line."""

    title: str
    unit: str
    now: str
    line: str
    area: str
    top: str
    summary: str
    period: str = ""
    width: int = WIDTH
    height: int = HEIGHT


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Spark:
    """Small bars of counts, none for zero. `now` is their sum."""

    bars: tuple[Bar, ...]
    now: str
    summary: str
    width: int = SPARK_WIDTH
    height: int = SPARK_HEIGHT


def chart(title: str, unit: str, now: str, values: Sequence[float], seconds: float) -> Chart:
    """A line over the last `seconds`; long rows are drawn by the greatest of neighbours."""
    drawn = _thinned(values)
    top = _nice(max(drawn, default=0.0))
    line, area = _points(drawn, top, WIDTH, HEIGHT)
    summary = f"{title}: now {now} {unit}, at most {max(values, default=0):,.1f} in the last {_period(seconds)}"
    return Chart(title, unit, now, line, area, f"{top:,.0f}" if top >= 10 else f"{top:g}", summary, _period(seconds))


def spark(counts: Sequence[int], period: str) -> Spark:
    """Of matches in equal parts of a period. Where a part was counted no further, the sum is told as a least one."""
    total, most = sum(counts), max(counts, default=0)
    step = SPARK_WIDTH / max(1, len(counts))
    bars = []
    for place, count in enumerate(counts):
        height = max(_EDGE, (SPARK_HEIGHT - _EDGE) * count / most) if count else 0
        if height:
            bars.append(Bar(round(step * place, 1), round(SPARK_HEIGHT - height, 1), step - _GAP, round(height, 1)))
    now = f"{total:,}{'+' if most >= MOST_IN_BIN else ''}"
    some = counted(total, "match", "matches").replace(f"{total:,}", now, 1) if total else "No matches"
    return Spark(tuple(bars), now, f"{some} in the last {period}")


def _points(values: Sequence[float], top: float, width: int, height: int) -> tuple[str, str]:
    if not values:
        return "", ""
    step = width / max(1, len(values) - 1)
    usable = height - 2 * _EDGE
    places = [(step * i, height - _EDGE - usable * min(1.0, value / top)) for i, value in enumerate(values)]
    if len(places) == 1:
        places.append((float(width), places[0][1]))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return line, f"0,{height} {line} {width},{height}"


def _thinned(values: Sequence[float]) -> list[float]:
    size = ceil(len(values) / _MOST_POINTS) or 1
    return [max(values[start : start + size]) for start in range(0, len(values), size)]


def _nice(most: float) -> float:
    """One of few factors times a power of ten, at least as great."""
    if most <= 1:
        return 1.0
    power = 10.0 ** floor(log10(most))
    return float(next((power * factor for factor in _STEPS if power * factor >= most), power * _STEPS[-1]))


def _period(seconds: float) -> str:
    return f"{max(1, round(seconds / 60))} min" if seconds >= 60 else f"{max(1, round(seconds))} s"
