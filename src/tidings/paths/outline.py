"""What a grammar allows, as far as paths can tell: which elements, attributes and texts may be in which element.

`unreachable` finds the first step of a path that no valid document can have. It speaks of local names only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tidings.errors import suggestion
from tidings.paths.tree import And, Attribute, Comparison, Element, Exists, Path, Step, Test, Text


@dataclass(frozen=True, slots=True)
class Outline:
    """`children` and `attributes` by element; an element that is missing there may have none."""

    roots: frozenset[str]
    children: Mapping[str, frozenset[str]]
    attributes: Mapping[str, frozenset[str]]
    texts: frozenset[str]  # elements that may have text
    spaces: Mapping[str, str] = field(default_factory=dict)  # the namespaces of elements, where they are known

    def below(self, elements: Iterable[str]) -> frozenset[str]:
        """All that may be within these, at any depth."""
        found: set[str] = set()
        waiting = list(elements)
        while waiting:
            for child in self.children.get(waiting.pop(), frozenset()) - found:
                found.add(child)
                waiting.append(child)
        return frozenset(found)


class Unreachable(NamedTuple):
    """The step that nothing can satisfy, and the names that could be there."""

    written: str
    name: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        hint = suggestion(self.name, self.known) if self.name and self.known else ""
        return f"the grammar allows no {self.written} there{hint}"


def unreachable(path: Path, outline: Outline) -> Unreachable | None:
    """None where a valid document may have such a node, as far as names tell."""
    return _steps(path.steps, None, outline)


def reached(path: Path, outline: Outline) -> frozenset[str]:
    """The elements that the path may lead to, as far as names tell; none if its last step is no element."""
    at: frozenset[str] | None = None
    for step in path.steps:
        at = _next(step, at, outline).found if isinstance(step.node, Element) else frozenset()
    return at or frozenset()


class _Next(NamedTuple):
    """What a step may find, what else could be there, and the step as a message names it."""

    found: frozenset[str]
    known: frozenset[str]
    written: str


def _next(step: Step, at: frozenset[str] | None, outline: Outline) -> _Next:
    """`at` None is the document."""
    if step.axis == "descendant":
        within = outline.roots | outline.below(outline.roots) if at is None else at | outline.below(at)
        elements = within if at is None else outline.below(at)
    else:
        within = frozenset() if at is None else at
        elements = outline.roots if at is None else _union(outline.children, at)
    match step.node:
        case Element(name):
            found = elements if name is None else elements & {name.local}
            return _Next(found, elements, "element" if name is None else f"element {name.local!r}")
        case Attribute(name):
            known = _union(outline.attributes, within)
            found = known if name is None else known & {name.local}
            return _Next(found, known, "attribute" if name is None else f"attribute {name.local!r}")
        case Text():
            return _Next(within & outline.texts, frozenset(), "text")


def _steps(steps: Sequence[Step], at: frozenset[str] | None, outline: Outline) -> Unreachable | None:
    for step in steps:
        found, known, written = _next(step, at, outline)
        if not found:
            named = "" if isinstance(step.node, Text) or step.node.name is None else step.node.name.local
            return Unreachable(written, named, tuple(sorted(known)))
        at = found if isinstance(step.node, Element) else frozenset()
        for test in step.tests:
            if (problem := _test(test, at, outline)) is not None:
                return problem
    return None


def _test(test: Test, at: frozenset[str], outline: Outline) -> Unreachable | None:
    """Only what must hold is looked at: not the terms of `or`, nor what is negated."""
    match test:
        case And(terms):
            return next((found for term in terms if (found := _test(term, at, outline)) is not None), None)
        case Exists(steps) | Comparison(steps, _, _) if steps:
            return _steps(steps, at, outline)
        case _:
            return None


def _union(sets: Mapping[str, frozenset[str]], names: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*(sets.get(name, frozenset()) for name in names))
