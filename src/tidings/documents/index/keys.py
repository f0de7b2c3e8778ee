"""Keys: of the tests at a path's first tested step, one that few nodes satisfy and that can be looked up by value.

The index finds the keys that a node satisfies by one search for each value, and then runs the operations of paths with
these keys alone. A key never decides: the path's operation has the test, too."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tidings.documents.index.vocabulary import Vocabulary
from tidings.documents.names import SEED, Names, intern, no_names
from tidings.paths.implication import conjuncts
from tidings.paths.numbers import number_of
from tidings.paths.tree import Attribute, Comparison, Element, Test

ALWAYS, EQUALS, FROM, TO = range(4)  # FROM: at least the number; TO: at most
SELF = -1  # in place of a label: the node itself, else a child or an attribute with that label


class Key(NamedTuple):
    kind: int = ALWAYS
    label: int = SELF
    text: bytes = b""
    number: float = 0.0


def key_of(tests: Iterable[Test], vocabulary: Vocabulary) -> Key:
    """The best one among the tests joined by `and`."""
    keys = [_key(fact, vocabulary) for test in tests for fact in conjuncts(test)]
    return min(keys, key=lambda key: (key.kind == ALWAYS, key.kind), default=Key())


def _key(test: Test, vocabulary: Vocabulary) -> Key:
    if not isinstance(test, Comparison) or len(test.steps) > 1:
        return Key()
    label = SELF
    if test.steps:
        step = test.steps[0]
        wild = isinstance(step.node, Element | Attribute) and step.node.name is None
        if step.axis == "descendant" or wild:
            return Key()
        label = vocabulary.label(step.node)
    literal = test.literal
    if isinstance(literal, str) and test.operator == "=":
        return Key(EQUALS, label, literal.encode())
    number = number_of(literal) if isinstance(literal, str) else literal
    if number is None:
        return Key()
    match test.operator:
        case ">=" | "=":
            return Key(FROM, label, number=number)
        case ">":
            return Key(FROM, label, number=math.nextafter(number, math.inf))
        case "<=":
            return Key(TO, label, number=number)
        case "<":
            return Key(TO, label, number=math.nextafter(number, -math.inf))
        case _:
            return Key()


class KeyTable(NamedTuple):
    """Keys are numbered so that those of a kind and label follow each other by rising number; 0 is `ALWAYS`."""

    texts: Names  # EQUALS: the number here is an index into `of_text`
    of_text: npt.NDArray[np.int32]
    longest: int  # bytes of a text
    equals: npt.NDArray[np.bool_]  # by label plus one: whether there are such keys
    bounds: npt.NDArray[np.float64]  # by key: the number
    ranges: npt.NDArray[np.int32]  # by label plus one: where FROM begins and ends, where TO begins and ends


def key_table(keys: Iterable[Key], labels: int) -> tuple[KeyTable, dict[Key, int]]:
    """The table, and the number of each distinct key."""
    distinct = sorted(set(keys) | {Key()}, key=lambda key: (key.kind, key.label, key.number, key.text))
    numbers = {key: number for number, key in enumerate(distinct)}
    texts = [key for key in distinct if key.kind == EQUALS]
    names = no_names(len(texts) + 1, sum(len(key.text) for key in texts) + 1)
    equals = np.zeros(labels + 1, np.bool_)
    ranges = np.zeros((labels + 1, 4), np.int32)
    for place, key in enumerate(texts):
        intern(names, SEED, place, EQUALS, key.label + 1, np.frombuffer(key.text, np.uint8), 0, len(key.text))
        equals[key.label + 1] = True
    for number, key in enumerate(distinct):
        if key.kind in (FROM, TO):
            column = 0 if key.kind == FROM else 2
            if ranges[key.label + 1, column + 1] == 0:
                ranges[key.label + 1, column] = number
            ranges[key.label + 1, column + 1] = number + 1
    longest = max((len(key.text) for key in texts), default=-1)
    bounds = np.array([key.number for key in distinct])
    of_text: Any = np.array([numbers[key] for key in texts], np.int32)
    return KeyTable(names, of_text, longest, equals, bounds, ranges), numbers
