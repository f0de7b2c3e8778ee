"""Tests as operations in arrays, each distinct one once. `evaluate` runs them.

| operation | fields | gives |
|---|---|---|
| ACCEPT | | the node |
| AND, OR, NOT | first, second | a node or none |
| STEP | axis, label, the test of the step (first) or -1, what follows (second) | a node that the rest leads to |
| FIRST | the steps (first), a comparison (second), whether it holds for no node (flag) | as contains and starts-with |
| TEXT…, NUMBER…, CONTAINS, STARTS | literal (first) or number | the node, if its text compares so |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple, assert_never

import numpy as np
import numpy.typing as npt

from tidings.documents.index.pool import Pool
from tidings.documents.index.vocabulary import ANY_ATTRIBUTE, ANY_ELEMENT, Vocabulary
from tidings.kernels.compiled import bare_kernel
from tidings.paths.numbers import number_of
from tidings.paths.tree import And, Comparison, Exists, Not, Or, Step, StringTest, Test

ACCEPT, AND, OR, NOT, CHILD, DESCENDANT, FIRST, TEXT_EQUAL, TEXT_UNEQUAL, CONTAINS, STARTS = range(11)
EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST = range(11, 17)
_NUMBERS = {"=": EQUAL, "!=": UNEQUAL, "<": LESS, "<=": AT_MOST, ">": MORE, ">=": AT_LEAST}
_WITH_LITERALS = (TEXT_EQUAL, TEXT_UNEQUAL, CONTAINS, STARTS)
NOTHING = -1


def bit_of(label: int) -> int:
    """Labels share bits; wildcards have none."""
    return 0 if label in (ANY_ELEMENT, ANY_ATTRIBUTE) else 1 << label % 62


class Operation(NamedTuple):
    kind: int
    first: int = NOTHING
    second: int = NOTHING
    label: int = NOTHING
    flag: int = 0  # of steps: any node will do; of FIRST: it holds for no node
    number: float = 0.0


class Arrays(NamedTuple):
    kind: npt.NDArray[np.int8]
    first: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]
    label: npt.NDArray[np.int32]
    flag: npt.NDArray[np.int8]
    number: npt.NDArray[np.float64]
    needs: npt.NDArray[np.int64]  # names that must be below the node, as bits
    literal_offsets: npt.NDArray[np.int64]
    literals: npt.NDArray[np.uint8]


_KINDS = (np.int8, np.int32, np.int32, np.int32, np.int8, np.float64, np.int64, np.int64, np.uint8)
_LITERAL_OFFSETS = Arrays._fields.index("literal_offsets")


class Program:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._begin()

    def _begin(self) -> None:
        self._numbers: dict[Operation, int] = {}
        self._needs: list[int] = []
        self._literals: dict[bytes, int] = {}
        self._columns = [Pool(kind) for kind in _KINDS]
        self._columns[_LITERAL_OFFSETS].add(np.zeros(1, np.int64))

    def arrays(self) -> Arrays:
        """Only what was added since the last call is written."""
        *fields, needs, ends, literals = self._columns
        known = len(needs)
        if known < len(self._numbers):
            for column, values in zip(fields, zip(*islice(self._numbers, known, None), strict=True), strict=True):
                column.add(np.array(values, column.array.dtype))
            needs.add(np.array(self._needs[known:], np.int64))
        known = len(ends) - 1
        if known < len(self._literals):
            texts = list(islice(self._literals, known, None))
            ends.add(ends.array[-1] + np.cumsum([len(text) for text in texts]))
            literals.add(np.frombuffer(b"".join(texts), np.uint8))
        return Arrays(*(column.array for column in self._columns))

    def __len__(self) -> int:
        return len(self._numbers)

    def needed_by(self, operations: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """By operation: whether one of these is it or contains it; negative ones are none."""
        needed = np.zeros(len(self._numbers), np.bool_)
        needed[operations[operations >= 0]] = True
        mark_parts(self.arrays(), needed)
        return needed

    def keep(self, needed: npt.NDArray[np.bool_], labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Drops all others. `labels`: by old label, the new one. Returns the same of operations; -1 stays -1."""
        before, literals = list(self._numbers), list(self._literals)
        self._begin()
        numbers = np.full(len(before) + 1, NOTHING, np.int64)
        for number in np.flatnonzero(needed).tolist():
            kind, first, second, label, flag, bound = before[number]
            first = self._bytes(literals[first]) if kind in _WITH_LITERALS else int(numbers[first])
            made = Operation(kind, first, int(numbers[second]), int(labels[label]), flag, bound)
            numbers[number] = self._add(made)
        return numbers

    def rest(self, tests: Iterable[Test], steps: Sequence[Step]) -> int:
        """What is left to do at a node: all these tests hold, and the steps lead on from it."""
        parts = [self._test(test) for test in tests]
        if steps:
            parts.append(self._steps(steps, self._add(Operation(ACCEPT)), True))
        return self._joined(AND, parts)

    def _add(self, operation: Operation) -> int:
        known = len(self._numbers)
        number = self._numbers.setdefault(operation, known)
        if number == known:
            self._needs.append(self._needed(operation))
        return number

    def _needed(self, operation: Operation) -> int:
        kind, first, second, label, *_ = operation
        if kind in (CHILD, DESCENDANT):
            return bit_of(label) | self._needs[second] | (self._needs[first] if first >= 0 else 0)
        if kind == AND:
            return self._needs[first] | self._needs[second]
        if kind == OR:
            return self._needs[first] & self._needs[second]
        return 0

    def _joined(self, kind: int, parts: Sequence[int]) -> int:
        if not parts:
            return NOTHING
        made = parts[-1]
        for part in reversed(parts[:-1]):
            made = self._add(Operation(kind, part, made))
        return made

    def _steps(self, steps: Sequence[Step], last: int, any_node: bool) -> int:
        made = last
        for step in reversed(steps):
            tests = self._joined(AND, [self._test(test) for test in step.tests])
            kind = CHILD if step.axis == "child" else DESCENDANT
            made = self._add(Operation(kind, tests, made, self._vocabulary.label(step.node), int(any_node)))
        return made

    def _test(self, test: Test) -> int:
        match test:
            case Exists(steps):
                return self._steps(steps, self._add(Operation(ACCEPT)), True)
            case Comparison(steps, operator, literal):
                return self._steps(steps, self._comparison(operator, literal), True)
            case StringTest(function, steps, text):
                compared = self._add(Operation(CONTAINS if function == "contains" else STARTS, self._literal(text)))
                if not steps:
                    return compared
                found = self._steps(steps, self._add(Operation(ACCEPT)), False)
                return self._add(Operation(FIRST, found, compared, flag=int(not text)))
            case And(terms):
                return self._joined(AND, [self._test(term) for term in terms])
            case Or(terms):
                return self._joined(OR, [self._test(term) for term in terms])
            case Not(term):
                return self._add(Operation(NOT, self._test(term)))
            case _:
                assert_never(test)

    def _comparison(self, operator: str, literal: str | float) -> int:
        if isinstance(literal, str) and operator in ("=", "!="):
            return self._add(Operation(TEXT_EQUAL if operator == "=" else TEXT_UNEQUAL, self._literal(literal)))
        number = number_of(literal) if isinstance(literal, str) else literal
        if number is None:  # never true: nothing is less than itself, and NaN is not equal to any number
            return self._add(Operation(NOT, self._add(Operation(ACCEPT))))
        return self._add(Operation(_NUMBERS[operator], number=number))

    def _literal(self, text: str) -> int:
        return self._bytes(text.encode())

    def _bytes(self, text: bytes) -> int:
        return self._literals.setdefault(text, len(self._literals))


@bare_kernel
def mark_parts(program: Any, needed: Any) -> None:
    """What the operations contain, which came before them."""
    for number in range(len(needed) - 1, -1, -1):
        if needed[number] and not TEXT_EQUAL <= program.kind[number] <= STARTS:
            if program.first[number] >= 0:
                needed[program.first[number]] = True
            if program.second[number] >= 0:
                needed[program.second[number]] = True
