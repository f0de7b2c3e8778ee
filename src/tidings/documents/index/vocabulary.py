"""The names that paths speak of, numbered. A number is a label; nodes of a document get the labels of their names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

import numpy as np
import numpy.typing as npt

from tidings.documents.names import ATTRIBUTE, ELEMENT, NAMESPACE, SEED, TEXT, Names, intern, no_names, renumbered
from tidings.paths.tree import Attribute, Element, Name, NodeTest, Text

# These have no names that a document can have.
TEXT_LABEL, OTHER_ELEMENT, OTHER_ATTRIBUTE, ANY_ELEMENT, ANY_ATTRIBUTE = range(5)
_FIXED = ((TEXT, 0, ""), (ELEMENT, 0, ""), (ATTRIBUTE, 0, ""), (ELEMENT, 0, "*"), (ATTRIBUTE, 0, "*"))
_OTHERS = np.array([TEXT_LABEL, OTHER_ELEMENT, OTHER_ATTRIBUTE, -2])  # -1 would be no namespace: numbers are plus one


class Vocabulary:
    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int, str], int] = {name: number for number, name in enumerate(_FIXED)}
        self._table: Names | None = None

    def __len__(self) -> int:
        return len(self._numbers)

    def label(self, node: NodeTest) -> int:
        """New names are added."""
        match node:
            case Text():
                return TEXT_LABEL
            case Element(None):
                return ANY_ELEMENT
            case Attribute(None):
                return ANY_ATTRIBUTE
            case Element(Name() as name):
                return self._named(ELEMENT, name)
            case Attribute(Name() as name):
                return self._named(ATTRIBUTE, name)
            case _:
                assert_never(node)  # type: ignore[arg-type]  # mypy does not see that a name is there or not

    def _named(self, kind: int, name: Name) -> int:
        space = self._number((NAMESPACE, 0, name.namespace)) + 1 if name.namespace else 0
        return self._number((kind, space, name.local))

    def _number(self, name: tuple[int, int, str]) -> int:
        known = len(self._numbers)
        number = self._numbers.setdefault(name, known)
        if number == known:
            self._table = None
        return number

    def keep(self, labels: Iterable[int]) -> npt.NDArray[np.int64]:
        """Drops all others but their namespaces. Returns by old label the new one; -1 stays -1."""
        before = list(self._numbers)
        kept = {*range(len(_FIXED)), *labels}
        kept |= {before[label][1] - 1 for label in kept if before[label][1]}
        numbers = np.full(len(before) + 1, -1, np.int64)
        self._numbers, self._table = {}, None
        for label in sorted(kept):  # a namespace came before its names
            kind, space, local = before[label]
            numbers[label] = self._number((kind, int(numbers[space - 1]) + 1 if space else 0, local))
        return numbers

    def labels(self, names: Names) -> npt.NDArray[np.int64]:
        """The label of each name of a batch; names that no path speaks of are `OTHER_…`."""
        if self._table is None:
            self._table = self._built()
        return np.asarray(renumbered(names, self._table, SEED, _OTHERS))

    def _built(self) -> Names:
        written = [local.encode() for _, _, local in self._numbers]
        table = no_names(len(written) + 1, sum(map(len, written)) + 1)
        for number, ((kind, space, _), local) in enumerate(zip(self._numbers, written, strict=True)):
            intern(table, SEED, number, kind, space, np.frombuffer(local, np.uint8), 0, len(local))
        return table
