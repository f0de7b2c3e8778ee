"""What a path selects in one document, step by step as XPath has it: the specification of paths.

`PathIndex` must give the same answers, and does so for many paths at once; tests compare both with libxml2."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, assert_never

from tidings.documents.tree import DocumentNode
from tidings.paths.numbers import number_of
from tidings.paths.printer import path_text, test_text
from tidings.paths.tree import (
    And,
    Attribute,
    Comparison,
    Element,
    Exists,
    Name,
    NodeTest,
    Not,
    Or,
    Path,
    Step,
    StringTest,
    Test,
    Text,
)

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Stop(NamedTuple):
    """How far a path leads: the longest beginning that selects something, what it selects first, and what comes next
    in the path."""

    found: str
    node: DocumentNode | None
    failed: str


class TooManySteps(Exception):
    """The evaluation takes longer than it may."""


def selected(path: Path, root: DocumentNode, most_steps: int | None = None) -> list[DocumentNode]:
    """In document order. Raises TooManySteps, if `most_steps` are given."""
    return _Evaluation(root, most_steps).absolute(path.steps)


def stop_of(path: Path, root: DocumentNode, most_steps: int | None = None) -> Stop | None:
    """None where the path selects a node. Raises TooManySteps, if `most_steps` are given."""
    evaluation = _Evaluation(root, most_steps)
    for place, step in enumerate(path.steps):
        before = path.steps[:place]
        found = evaluation.absolute(before) if before else []
        for number in range(len(step.tests) + 1):
            reached = evaluation.absolute((*before, Step(step.axis, step.node, step.tests[:number])))
            if not reached:
                failed = (
                    f"[{test_text(step.tests[number - 1])}]"
                    if number
                    else path_text(Path((Step(step.axis, step.node),)))
                )
                known = () if not number else (Step(step.axis, step.node, step.tests[: number - 1]),)
                return Stop(path_text(Path((*before, *known))), found[0] if found else None, failed)
            found = reached
    return None


class _Evaluation:
    """Of paths on one document; what a test says of a node is remembered."""

    def __init__(self, root: DocumentNode, most_steps: int | None) -> None:
        self._root = root
        self._left = most_steps
        self._known: dict[tuple[int, int], bool] = {}
        self._tests: list[Test] = []  # kept, since they are known by their ids

    def absolute(self, steps: Sequence[Step]) -> list[DocumentNode]:
        """From the document itself, whose only child is the root element."""
        first = steps[0]
        if first.axis == "child":
            reached: Iterable[DocumentNode] = (self._root,) if isinstance(first.node, Element) else ()
        else:
            reached = self._descendants(self._root, first.node, itself=True)
        return self._relative([node for node in reached if self._passes(first, node)], steps[1:])

    def _relative(self, nodes: list[DocumentNode], steps: Sequence[Step]) -> list[DocumentNode]:
        for step in steps:
            found: dict[int, DocumentNode] = {}
            for node in nodes:
                if step.axis == "child":
                    near: Iterable[DocumentNode] = (
                        node.attributes if isinstance(step.node, Attribute) else node.children
                    )
                else:
                    near = self._descendants(node, step.node, itself=False)
                found.update((id(one), one) for one in near if id(one) not in found and self._passes(step, one))
            nodes = _ordered(found.values()) if len(nodes) > 1 else list(found.values())
        return nodes

    def _passes(self, step: Step, node: DocumentNode) -> bool:
        self._count()
        return _is(step.node, node) and all(self._holds(test, node) for test in step.tests)

    def _count(self) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise TooManySteps

    def _holds(self, test: Test, node: DocumentNode) -> bool:
        key = id(test), id(node)
        known = self._known.get(key)
        if known is None:
            self._tests.append(test)
            known = self._known[key] = self._decided(test, node)
        return known

    def _decided(self, test: Test, node: DocumentNode) -> bool:
        match test:
            case And(terms):
                return all(self._holds(term, node) for term in terms)
            case Or(terms):
                return any(self._holds(term, node) for term in terms)
            case Not(term):
                return not self._holds(term, node)
            case Exists(steps):
                return bool(self._relative([node], steps))
            case Comparison(steps, sign, literal):
                found = (one.string for one in self._relative([node], steps))
                return any(_compares(text, sign, literal) for text in found)
            case StringTest(function, steps, text):
                first = next((one.string for one in self._relative([node], steps)), "")
                return text in first if function == "contains" else first.startswith(text)
            case _:
                assert_never(test)

    def _descendants(self, top: DocumentNode, wanted: NodeTest, itself: bool) -> Iterator[DocumentNode]:
        """What is below it, its own attributes included; `itself`: it, too."""
        waiting = [top]
        while waiting:
            node = waiting.pop()
            self._count()
            if itself or node is not top:
                yield node
            if isinstance(wanted, Attribute):
                yield from node.attributes
            waiting += reversed(node.children)


def _compares(text: str, sign: str, literal: str | float) -> bool:
    if isinstance(literal, str) and sign in ("=", "!="):
        return (text == literal) is (sign == "=")
    left = number_of(text)
    right = number_of(literal) if isinstance(literal, str) else literal
    if left is None or right is None:  # not a number: unequal to everything
        return sign == "!="
    return _COMPARE[sign](left, right)


def _ordered(nodes: Iterable[DocumentNode]) -> list[DocumentNode]:
    """In document order: elements and texts by where they begin, attributes after their element."""
    return sorted(nodes, key=lambda node: (node.start, node.kind == "attribute"))


def _is(wanted: NodeTest, node: DocumentNode) -> bool:
    match wanted:
        case Text():
            return node.kind == "text"
        case Element(name):
            return node.kind == "element" and _named(name, node)
        case Attribute(name):
            return node.kind == "attribute" and _named(name, node)
        case _:
            assert_never(wanted)


def _named(name: Name | None, node: DocumentNode) -> bool:
    return name is None or (name.local == node.local and name.namespace == node.namespace)
