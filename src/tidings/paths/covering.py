"""Whether one path covers another: each document in which the second selects a node is one where the first does.

Sound always. Complete for child, descendant and wildcard steps without tests, and for equal tests on aligned steps.

Wildcards without tests are distances: what counts are the other steps, the anchors, and how far each is from the one
before, exactly or at least. So `/a/*//b` and `/a//*/b` are the same: b is at least two below a. A path covers another
when its anchors map to the other's in order and every distance that the other allows is allowed. A mapping of steps to
steps would miss such pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tidings.paths.implication import all_implied
from tidings.paths.tree import Attribute, Element, Path, Step, Text


class _Anchor(NamedTuple):
    step: Step
    distance: int  # from the anchor before, or from the document
    exact: bool  # else at least


class _Anchored(NamedTuple):
    anchors: tuple[_Anchor, ...]
    tail: int  # elements that must follow below the last anchor, one within the other


def covers(general: Path, specific: Path) -> bool:
    return steps_cover(general.steps, specific.steps)


def steps_cover(general: Sequence[Step], specific: Sequence[Step]) -> bool:
    """The same for steps that begin at the same node."""
    wide, narrow = _anchored(general), _anchored(specific)
    reached = {-1}  # anchors of `narrow` that the anchors of `wide` so far may map to; -1 is the beginning
    for anchor in wide.anchors:
        reached = {
            place
            for place, other in enumerate(narrow.anchors)
            if _step_covers(anchor.step, other.step)
            and any(_allows(anchor, narrow.anchors[before + 1 : place + 1]) for before in reached if before < place)
        }
    return any(_depth_below(narrow, place) >= wide.tail for place in reached)


def _anchored(steps: Sequence[Step]) -> _Anchored:
    anchors: list[_Anchor] = []
    distance, exact = 0, True
    for step in steps:
        distance += 1
        exact = exact and step.axis == "child"
        if step.node != Element(None) or step.tests:
            anchors.append(_Anchor(step, distance, exact))
            distance, exact = 0, True
    return _Anchored(tuple(anchors), distance)  # a node at least so far below exists just when one exactly so far does


def _allows(anchor: _Anchor, between: Sequence[_Anchor]) -> bool:
    distance = sum(one.distance for one in between)
    if anchor.exact:
        return distance == anchor.distance and all(one.exact for one in between)
    return distance >= anchor.distance


def _depth_below(path: _Anchored, place: int) -> int:
    """How many elements are known to be below the anchor, one within the other."""
    below = path.anchors[place + 1 :]
    leaf = bool(below) and not isinstance(below[-1].step.node, Element)
    return sum(one.distance for one in below) - leaf + path.tail


def _step_covers(general: Step, specific: Step) -> bool:
    match general.node, specific.node:
        case (Element(wide), Element(narrow)) | (Attribute(wide), Attribute(narrow)):
            same = wide is None or wide == narrow
        case Text(), Text():
            same = True
        case _:
            same = False
    return same and all_implied(general.tests, specific.tests)
