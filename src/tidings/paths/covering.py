"""Whether one path covers another: each document in which the second selects a node is one where the first does.

Sound always. Complete for child, descendant and wildcard steps without tests, and for equal tests on aligned steps.

Wildcards without tests are distances: what counts are the other steps, the anchors, and how far each is from the one
before, exactly or at least. So `/a/*//b` and `/a//*/b` are the same: b is at least two below a. A path covers another
when its anchors map to the other's in order and every distance that the other allows is allowed. A mapping of steps to
steps would miss such pairs.

What a test asks for is a step, too: `//a[@k]` holds for the documents that `//a/@k` holds for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from tidings.paths.implication import all_implied, conjuncts
from tidings.paths.tree import Attribute, Comparison, Element, Exists, Name, Path, Step, Test, Text


class _Anchor(NamedTuple):
    step: Step
    distance: int  # from the anchor before, or from the document
    exact: bool  # else at least


class _Anchored(NamedTuple):
    anchors: tuple[_Anchor, ...]
    tail: int  # elements that must follow below the last anchor, one within the other


def covers(general: Path, specific: Path) -> bool:
    wide, narrow = general.steps, specific.steps
    if _impossible(narrow) or _covers(_anchored(wide, 1), _anchored(narrow, 1)):
        return True
    if not _names(wide) <= _names_within(narrow):  # most pairs: quicker than looking at all ways
        return False
    unfolded = _anchored(_unfolded(wide), 1)
    return any(_covers(unfolded, _anchored(way, 1)) for way in _ways(narrow))


def steps_cover(general: Sequence[Step], specific: Sequence[Step]) -> bool:
    """The same for steps that begin at the same element."""
    return _covers(_anchored(general), _anchored(specific))


def _covers(wide: _Anchored, narrow: _Anchored) -> bool:
    reached = {-1}  # anchors of `narrow` that the anchors of `wide` so far may map to; -1 is the beginning
    for anchor in wide.anchors:
        reached = {
            place
            for place, other in enumerate(narrow.anchors)
            if _step_covers(anchor.step, other.step)
            and any(_allows(anchor, narrow.anchors[before + 1 : place + 1]) for before in reached if before < place)
        }
    return any(_depth_below(narrow, place) >= wide.tail for place in reached)


def _impossible(steps: Sequence[Step]) -> bool:
    """A document itself has no attributes and no text."""
    return steps[0].axis == "child" and not isinstance(steps[0].node, Element)


def _unfolded(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The only test of the last step as steps: `//a[b/@k = 1]` as `//a/b/@k[. = 1]`."""
    while len(steps[-1].tests) == 1 and (more := _steps_of(steps[-1].tests[0])):
        steps = (*steps[:-1], replace(steps[-1], tests=()), *more)
    return steps


def _names(steps: Sequence[Step]) -> set[Name | None]:
    """Those of elements, which the steps of a path that it covers have, too."""
    return {step.node.name for step in steps if isinstance(step.node, Element)} - {None}


def _names_within(steps: Sequence[Step]) -> set[Name | None]:
    names = _names(steps)
    for step in steps:
        for test in step.tests:
            for fact in conjuncts(test):
                if isinstance(fact, Exists | Comparison):
                    names |= _names_within(fact.steps)
    return names


def _ways(steps: tuple[Step, ...], first: int = 0) -> Iterator[tuple[Step, ...]]:
    """The steps, and for each test of one of them the steps that lead through it: all select a node where they do."""
    yield steps
    for place in range(first, len(steps)):
        for test in steps[place].tests:
            for fact in conjuncts(test):
                if more := _steps_of(fact):
                    yield from _ways((*steps[: place + 1], *more), place + 1)


def _steps_of(test: Test) -> tuple[Step, ...]:
    """Steps that select a node just where the test holds; none if there are no such."""
    match test:
        case Exists(steps):
            return steps
        case Comparison((*steps, last), operator, literal):
            return (*steps, replace(last, tests=(*last.tests, Comparison((), operator, literal))))
        case _:
            return ()


def _anchored(steps: Sequence[Step], least: int = 0) -> _Anchored:
    """`least`: how deep the elements are whose attributes and texts the first step may select: 1 from a document."""
    anchors: list[_Anchor] = []
    distance, exact = 0, True
    for step in steps:
        distance += 1
        exact = exact and step.axis == "child"
        if not isinstance(step.node, Element) and not anchors:
            distance = max(distance, least + 1) if not exact else distance
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
