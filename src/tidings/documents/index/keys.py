"""Keys: of the tests at a path's first tested step, the one by which the index finds the path.

| kind | found by | decides |
|---|---|---|
| EQUALS | the text of the node, of a child or of an attribute, by one search for each value | the comparison |
| IS, FROM, TO | its number, among those that paths at the same place in the trie ask for | the comparison |
| EXISTS | the name of a child or an attribute | that it exists |
| ALWAYS | nothing: the path is looked at wherever its steps lead | nothing |

Of the tests, only those that the key does not decide are left to `program`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tidings.documents.index.vocabulary import Vocabulary
from tidings.paths.implication import conjuncts
from tidings.paths.numbers import number_of
from tidings.paths.tree import And, Attribute, Comparison, Element, Exists, Not, Or, Step, StringTest, Test

EQUALS, IS, FROM, TO, EXISTS, ALWAYS = range(6)  # the best first; FROM: at least the number; TO: at most
SELF = -1  # in place of a label: the node itself, else a child or an attribute with that label


class Key(NamedTuple):
    kind: int = ALWAYS
    label: int = SELF
    text: bytes = b""
    number: float = 0.0


def keyed(tests: Iterable[Test], vocabulary: Vocabulary) -> tuple[Key, list[Test]]:
    """The best key, and the tests that it leaves to be done, those joined by `and` apart."""
    best, decided, left = Key(), -1, [fact for test in tests for fact in conjuncts(test)]
    for place, fact in enumerate(left):
        for key, decides in _keys(fact, vocabulary):
            if key.kind < best.kind:
                best, decided = key, place if decides else -1
    return best, [fact for place, fact in enumerate(left) if place != decided]


def _keys(test: Test, vocabulary: Vocabulary) -> Iterator[tuple[Key, bool]]:
    """Keys that are satisfied wherever the test holds, and whether it holds wherever they are."""
    match test:
        case Comparison(steps):
            key, only = _compared(test), len(steps) < 2 and not any(step.tests for step in steps)
            if not steps and key is not None:
                yield key, True
            elif steps and (label := _label(steps[0], vocabulary)) is not None:
                yield (key._replace(label=label), only) if key and len(steps) == 1 else (Key(EXISTS, label), False)
        case Exists((first, *more)):
            if (label := _label(first, vocabulary)) is not None:
                yield Key(EXISTS, label), not more and not first.tests
        case StringTest(_, (first, *_), text) if text:
            if (label := _label(first, vocabulary)) is not None:
                yield Key(EXISTS, label), False
        case Exists() | StringTest() | And() | Or() | Not():
            return


def _label(step: Step, vocabulary: Vocabulary) -> int | None:
    """None if it is not among the children and attributes of one name."""
    wild = isinstance(step.node, Element | Attribute) and step.node.name is None
    return None if step.axis == "descendant" or wild else vocabulary.label(step.node)


def _compared(test: Comparison) -> Key | None:
    """The key that a node itself satisfies where it compares so; None for `!=`, and for what is no number."""
    literal = test.literal
    if isinstance(literal, str) and test.operator == "=":
        return Key(EQUALS, text=literal.encode())
    number = number_of(literal) if isinstance(literal, str) else literal
    if number is None or math.isinf(number):
        return None
    match test.operator:
        case "=":
            return Key(IS, number=number)
        case ">=":
            return Key(FROM, number=number)
        case ">":
            return Key(FROM, number=math.nextafter(number, math.inf))
        case "<=":
            return Key(TO, number=number)
        case "<":
            return Key(TO, number=math.nextafter(number, -math.inf))
        case _:
            return None
