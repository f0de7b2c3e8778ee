"""A tree of categories, numbered in pre-order so that everything below a node is one interval of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidings.errors import SchemaError
from tidings.schema.values import NotText, is_text

NO_PARENT = -1
# The deepest tree that both file forms can hold: libxml2 stops at 256 elements, Python's JSON near 1,000.
LEVELS = 250


class RepeatedNode(SchemaError):
    """A node's name occurs twice; below itself it would be a cycle."""

    node: str
    cyclic: bool

    def problem(self) -> str:
        if self.cyclic:
            return f"the hierarchy has a cycle: {self.node!r} is below itself"
        return f"node {self.node!r} occurs twice in the hierarchy; each name may occur once"


class TooDeep(SchemaError):
    node: str
    template = f"the hierarchy is too deep: node {{node!r}} has {LEVELS} above it, the most there may be"


class NotPreOrder(SchemaError):
    """A node's parent is not above it in the order of the numbers."""

    node: str
    parent: int
    template = "node {node!r} cannot have the parent number {parent}: nodes are in pre-order"


class UnknownNode(SchemaError):
    name: str
    known: tuple[str, ...]
    template = "no node {name!r} in the hierarchy{hint}"


@dataclass(frozen=True)
class Hierarchy:
    """`nodes` in pre-order, `parents[i]` the number of i's parent (-1 above a root). Several roots may be.

    Derived: `ends[i]` is one past the last node below i, so the subtree of i is the interval [i, ends[i]).
    """

    nodes: tuple[str, ...] = ()
    parents: tuple[int, ...] = ()
    ends: tuple[int, ...] = field(init=False, compare=False, repr=False)
    _numbers: dict[str, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        numbers: dict[str, int] = {}
        path: list[int] = []  # from a root to the node before
        for number, (node, parent) in enumerate(zip(self.nodes, self.parents, strict=True)):
            while path and path[-1] != parent:
                path.pop()
            if not path and parent != NO_PARENT:
                raise NotPreOrder(node, parent)
            if node in numbers:
                raise RepeatedNode(node, numbers[node] in path)
            if len(path) >= LEVELS:
                raise TooDeep(node)
            if not is_text(node):
                raise NotText("hierarchy", node)
            numbers[node] = number
            path.append(number)
        ends = list(range(1, len(self.nodes) + 1))
        for number in range(len(self.nodes) - 1, -1, -1):
            parent = self.parents[number]
            if parent != NO_PARENT:
                ends[parent] = max(ends[parent], ends[number])
        object.__setattr__(self, "_numbers", numbers)
        object.__setattr__(self, "ends", tuple(ends))

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Hierarchy:
        """From nested mappings: `{"furniture": {"table": {"dining table": {}}}}`."""
        nodes: list[str] = []
        parents: list[int] = []
        waiting = [(iter(tree.items()), NO_PARENT)]
        while waiting and len(waiting) <= LEVELS + 1:  # deeper it will be refused; a tree within itself would never end
            children, parent = waiting[-1]
            for name, below in children:
                number = len(nodes)
                nodes.append(name)
                parents.append(parent)
                waiting.append((iter(below.items()), number))
                break
            else:
                waiting.pop()
        return cls(tuple(nodes), tuple(parents))

    def tree(self) -> dict[str, Any]:
        """As nested mappings, children in order."""
        below: list[dict[str, Any]] = [{} for _ in self.nodes]
        roots: dict[str, Any] = {}
        for number, (node, parent) in enumerate(zip(self.nodes, self.parents, strict=True)):
            (roots if parent == NO_PARENT else below[parent])[node] = below[number]
        return roots

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node: object) -> bool:
        return node in self._numbers

    def number(self, node: str) -> int:
        try:
            return self._numbers[node]
        except KeyError:
            raise UnknownNode(node, self.nodes) from None

    def interval(self, node: str) -> tuple[int, int]:
        """The node and everything below it, as pre-order numbers [start, stop)."""
        number = self.number(node)
        return number, self.ends[number]

    def ancestors(self, node: str) -> tuple[int, ...]:
        """The numbers strictly above the node, nearest first."""
        return tuple(self._walk_up(self.number(node)))

    def _walk_up(self, number: int) -> list[int]:
        above = []
        while (number := self.parents[number]) != NO_PARENT:
            above.append(number)
        return above

    def append(self, node: str, parent: str | None) -> Hierarchy:
        """With one node more, as the last child of `parent` (as the last root when there is none)."""
        if node in self:
            raise RepeatedNode(node, cyclic=node == parent)
        above = NO_PARENT if parent is None else self.number(parent)
        place = len(self) if parent is None else self.ends[above]
        shifted = [p + 1 if p >= place else p for p in self.parents]
        return Hierarchy((*self.nodes[:place], node, *self.nodes[place:]), (*shifted[:place], above, *shifted[place:]))
