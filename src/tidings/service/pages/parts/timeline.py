"""A composite as a small picture: its parts along a line in the order in which they must happen, with its frames; and
a detection: its events where they happened in time. Templates draw them, so all text goes through their escaping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from tidings.composite.trace import SECOND
from tidings.language.composites.printer import print_node
from tidings.language.composites.tree import (
    Absent,
    Before,
    Both,
    Composite,
    Either,
    Every,
    EveryDay,
    Leaf,
    Nth,
    Root,
    Times,
    Unless,
)
from tidings.schema import Instant
from tidings.schema.values import UNITS, Span

STEP, MARGIN = 76, 34  # between two parts, and at both ends
_FRAME, _AXIS = 22, 26  # the height of a frame's bracket, and of the line with its letters
_WIDTH = 360  # of a detection
_MOST_DOTS = 4  # of `times`; the number says the rest
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Dot:
    """A part, by its letter or name. `absent`: it must not happen. `word`: the operator between it and the next."""

    x: float
    letter: str
    absent: bool = False
    word: str = ""
    word_x: float = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """A bracket above parts; `level` counts from the innermost."""

    start: float
    stop: float
    level: int
    told: str
    y: float = 0


@dataclass(frozen=True, slots=True)
class Legend:
    letter: str
    text: str
    absent: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """`end`: where the detection is made, of a pattern that time completes; else None."""

    dots: tuple[Dot, ...]
    frames: tuple[Frame, ...]
    legend: tuple[Legend, ...]
    end: float | None
    y: float
    width: float
    height: float
    summary: str
    by: str


@dataclass(frozen=True, slots=True)
class Moment:
    """An event of a detection, at its time."""

    x: float
    letter: str
    told: str


@dataclass(frozen=True, slots=True)
class DetectionPicture:
    moments: tuple[Moment, ...]
    end: float
    first: str
    last: str
    took: str
    summary: str
    width: int = _WIDTH


def picture(composite: Composite) -> Picture:
    """The pattern of a composite."""
    drawing = _Drawing()
    level = drawing.add(composite.tree, False)
    top = (level + 1) * _FRAME
    ends = isinstance(composite.tree, Unless | Absent)
    columns = drawing.column + ends
    frames = [replace(one, y=top - one.level * _FRAME) for one in drawing.frames]
    return Picture(
        tuple(drawing.dots),
        tuple(frames),
        tuple(drawing.legend.values()),
        _x(columns - 1) if ends else None,
        top + _AXIS / 2,
        2 * MARGIN + max(0, columns - 1) * STEP,
        top + 2 * _AXIS,
        f"Timeline of {print_node(composite.tree)}",
        ", ".join(composite.by),
    )


def detection_picture(times: Sequence[int], end: int, expired: bool = False) -> DetectionPicture:
    """Of the times of a detection's events, in order, and its own time; or of a partial match that expired."""
    first, last = min([*times, end]), max([*times, end])
    span = max(1, last - first)
    inner = _WIDTH - 2 * MARGIN

    def place(time: int) -> float:
        return round(MARGIN + inner * (time - first) / span, 1)

    moments = tuple(
        Moment(place(time), str(number), f"{number}: {Instant(time)}") for number, time in enumerate(times, 1)
    )
    took = _length(last - first)
    summary = f"{len(times)} events within {took}" if len(times) != 1 else f"one event, known after {took}"
    if expired:
        summary = f"{'one event' if len(times) == 1 else f'{len(times)} events'}, expired after {took}"
    return DetectionPicture(moments, place(end), _clock(first), _clock(last), took, summary)


def _within(span: int) -> str:
    return f"within {Span(span)}"


def _length(span: int) -> str:
    """`5 min 20 s`: in the two largest units that it has."""
    parts = []
    for unit in ("day", "h", "min", "s"):
        count, span = divmod(span, UNITS[unit])
        parts += [f"{count} {unit}"] if count else []
    return " ".join(parts[:2]) or "less than 1 s"


def _clock(time: int) -> str:
    return str(Instant(time // SECOND * SECOND))[11:19]


def _x(column: float) -> float:
    return MARGIN + column * STEP


class _Drawing:
    """Parts get columns from left to right as they are added; a frame knows its first and last column."""

    def __init__(self) -> None:
        self.column = 0
        self.dots: list[Dot] = []
        self.frames: list[Frame] = []
        self.legend: dict[str, Legend] = {}

    def add(self, node: Root, absent: bool) -> int:
        """Draws a node; gives how many frames lie above each other there."""
        first = self.column
        match node:
            case Leaf() | Every() | EveryDay():
                self._dot(node, absent)
                return 0
            case Either(left, right):
                level = self._both(left, right, "or", absent)
                return level if node.within is None else self._frame(first, level, _within(node.within))
            case Both(left, right):
                return self._frame(first, self._both(left, right, "and", absent), _within(node.within))
            case Before(left, right):
                level = self.add(left, absent)
                self._word("then")
                if node.without is not None:
                    level = max(level, self.add(node.without.term, True))
                    self._word("then")
                level = max(level, self.add(right, absent))
                return self._frame(first, level, _within(node.within))
            case Unless(term, without):
                level = self.add(term, absent)
                self._word("not")
                level = max(level, self.add(without.term, True))
                return self._frame(first, level, _within(node.within), 1)
            case Nth(term, n):
                return self._frame(first, self.add(term, absent), f"number {n:,}")
            case Times(term, n):
                level = self.add(term, absent)
                for _ in range(min(n, _MOST_DOTS) - 1 if isinstance(term, Leaf) else 0):
                    self._again()
                return self._frame(first, level, f"{n:,} times {_within(node.within)}")
            case Absent(term):
                return self._frame(first, self.add(term, True), f"none {_within(node.within)}", 1)
            case _:
                assert_never(node)

    def _both(self, left: Root, right: Root, word: str, absent: bool) -> int:
        level = self.add(left, absent)
        self._word(word)
        return max(level, self.add(right, absent))

    def _dot(self, leaf: Leaf | Every | EveryDay, absent: bool) -> None:
        text = print_node(replace(leaf, name=None))[1:-1]
        known = next((one for one in self.legend.values() if one.text == text and one.absent == absent), None)
        letter = leaf.name or (known.letter if known else _LETTERS[len(self.legend) % len(_LETTERS)])
        self.legend.setdefault(letter, Legend(letter, text, absent))
        self.dots.append(Dot(_x(self.column), letter, absent))
        self.column += 1

    def _again(self) -> None:
        self.dots.append(replace(self.dots[-1], x=_x(self.column)))
        self.column += 1

    def _word(self, word: str) -> None:
        self.dots[-1] = replace(self.dots[-1], word=word, word_x=_x(self.column - 0.5))

    def _frame(self, first: int, level: int, told: str, more: int = 0) -> int:
        self.frames.append(Frame(_x(first) - 12, _x(self.column - 1 + more) + 12, level + 1, told))
        return level + 1
