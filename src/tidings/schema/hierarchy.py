"""A tree of categories, numbered in pre-order so that everything below a node is one interval of numbers.

A node is named by its path, the names from the top joined by ` > `. The end of a path may stand for the whole where it
occurs once in the tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tidings.errors import SchemaError
from tidings.schema.values import NotText, is_text

NO_PARENT = -1
# The deepest tree that both file forms can hold: libxml2 stops at 256 elements, Python's JSON near 1,000.
LEVELS = 250
SEPARATOR = " > "
_MOST_LISTED = 8


class RepeatedNode(SchemaError):
    """Two nodes with one parent have the same name."""

    path: str
    template = "node {path!r} occurs twice in the hierarchy; nodes with the same parent need different names"


class IllegalNode(SchemaError):
    """A name with which a path could be read in two ways."""

    name: str
    template = f"{{name!v}} cannot name a node: {SEPARATOR!r} separates the names in a path"


class AmbiguousNode(SchemaError):
    """The end of several paths."""

    name: str
    paths: tuple[str, ...]
    template = "{name!r} occurs several times in the hierarchy; write the whole path: {listed}"

    @property
    def listed(self) -> str:
        return listed_paths(self.paths)


class TooDeep(SchemaError):
    node: str
    template = f"the hierarchy is too deep: node {{node!r}} has {LEVELS} above it, the maximum"


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
    """`names` in pre-order, `parents[i]` the number of i's parent (-1 above a root). Several roots may be.

    Derived: `nodes[i]` is the path of i, the canonical value; `ends[i]` is one past the last node below i, so the
    subtree of i is the interval [i, ends[i]).
    """

    names: tuple[str, ...] = ()
    parents: tuple[int, ...] = ()
    nodes: tuple[str, ...] = field(init=False, compare=False, repr=False)
    ends: tuple[int, ...] = field(init=False, compare=False, repr=False)
    _numbers: dict[str, int] = field(init=False, compare=False, repr=False)  # by path
    _by_name: dict[str, list[int]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        numbers: dict[str, int] = {}
        by_name: dict[str, list[int]] = {}
        names: list[str] = []
        nodes: list[str] = []
        above: list[int] = []  # from a root to the node before
        for number, (name, parent) in enumerate(zip(self.names, self.parents, strict=True)):
            while above and above[-1] != parent:
                above.pop()
            if not above and parent != NO_PARENT:
                raise NotPreOrder(name, parent)
            name = short_name(name, None if parent == NO_PARENT else nodes[parent])
            path = name if parent == NO_PARENT else below(nodes[parent], name)
            if path in numbers:
                raise RepeatedNode(path)
            if len(above) >= LEVELS:
                raise TooDeep(name)
            numbers[path] = number
            by_name.setdefault(name, []).append(number)
            names.append(name)
            nodes.append(path)
            above.append(number)
        ends = list(range(1, len(nodes) + 1))
        for number in range(len(nodes) - 1, -1, -1):
            parent = self.parents[number]
            if parent != NO_PARENT:
                ends[parent] = max(ends[parent], ends[number])
        object.__setattr__(self, "names", tuple(names))
        object.__setattr__(self, "nodes", tuple(nodes))
        object.__setattr__(self, "ends", tuple(ends))
        object.__setattr__(self, "_numbers", numbers)
        object.__setattr__(self, "_by_name", by_name)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Hierarchy:
        """From nested mappings: `{"furniture": {"table": {"dining table": {}}}}`."""
        nodes: list[str] = []
        parents: list[int] = []
        waiting = [(iter(tree.items()), NO_PARENT)]
        while waiting and len(waiting) <= LEVELS + 1:  # deeper it will be refused; a tree within itself would never end
            children, parent = waiting[-1]
            for name, subtree in children:
                number = len(nodes)
                nodes.append(name)
                parents.append(parent)
                waiting.append((iter(subtree.items()), number))
                break
            else:
                waiting.pop()
        return cls(tuple(nodes), tuple(parents))

    def tree(self) -> dict[str, Any]:
        """As nested mappings, children in order."""
        subtrees: list[dict[str, Any]] = [{} for _ in self.names]
        roots: dict[str, Any] = {}
        for number, (name, parent) in enumerate(zip(self.names, self.parents, strict=True)):
            (roots if parent == NO_PARENT else subtrees[parent])[name] = subtrees[number]
        return roots

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, text: object) -> bool:
        """Whether it is a path or the end of one, be it of several."""
        return isinstance(text, str) and bool(self._meant(text))

    def has_path(self, text: str) -> bool:
        """Whether it is the whole path of a node, not only the end of one."""
        return text in self._numbers

    def number(self, text: str) -> int:
        """Of the node with this path, or whose path alone ends so; raises UnknownNode or AmbiguousNode."""
        number = self._numbers.get(text)
        if number is not None:
            return number
        meant = self._meant(text)
        if not meant:
            raise UnknownNode(text, self.words)
        if len(meant) > 1:
            raise AmbiguousNode(text, tuple(self.nodes[one] for one in meant))
        return meant[0]

    def path(self, text: str) -> str:
        """The whole path; raises like `number`."""
        return self.nodes[self.number(text)]

    @property
    def words(self) -> tuple[str, ...]:
        """What a person may write for a node: names, and paths for those that need them."""
        return tuple(dict.fromkeys((*self.names, *self.nodes)))

    @cached_property
    def short_names(self) -> dict[str, str]:
        """The path of each node, by path and by the names that occur once."""
        once = {name: self.nodes[numbers[0]] for name, numbers in self._by_name.items() if len(numbers) == 1}
        return once | {path: path for path in self.nodes}

    def spellings(self, number: int) -> list[str]:
        """All texts that name the node: its path, and the ends of it that no other has."""
        names = self.nodes[number].split(SEPARATOR)
        ends = (SEPARATOR.join(names[first:]) for first in range(len(names)))
        return [end for end in ends if self._meant(end) == [number]]

    def all_spellings(self) -> list[str]:
        """All texts that name some node."""
        return [text for number in range(len(self)) for text in self.spellings(number)]

    def _meant(self, text: str) -> list[int]:
        """The nodes that a text may mean: the one with this path, else those whose path ends so."""
        if text in self._numbers:
            return [self._numbers[text]]
        named = self._by_name.get(text.rpartition(SEPARATOR)[2], [])
        if SEPARATOR not in text:
            return named
        return [number for number in named if self.nodes[number].endswith(SEPARATOR + text)]

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

    def append(self, name: str, parent: str | None) -> Hierarchy:
        """With one node more, as the last child of `parent` (as the last root when there is none)."""
        above = NO_PARENT if parent is None else self.number(parent)
        name = short_name(name, None if parent is None else self.nodes[above])
        path = name if parent is None else below(self.nodes[above], name)
        if path in self._numbers:
            raise RepeatedNode(path)
        place = len(self) if parent is None else self.ends[above]
        shifted = [p + 1 if p >= place else p for p in self.parents]
        return Hierarchy((*self.names[:place], name, *self.names[place:]), (*shifted[:place], above, *shifted[place:]))


def is_node_name(name: str) -> bool:
    """Whether paths with this name can be read in one way only: half a separator at its edge is one too."""
    return SEPARATOR not in f" {name} "


def below(parent: str, name: str) -> str:
    """The path of a child."""
    return f"{parent}{SEPARATOR}{name}"


def short_name(name: str, parent: str | None) -> str:
    """The name of a node, which may be written as its whole path. Raises IllegalNode or NotText."""
    if parent is not None:
        name = name.removeprefix(below(parent, ""))
    if not is_node_name(name):
        raise IllegalNode(name)
    if not is_text(name):
        raise NotText("hierarchy", name)
    return name


def listed_paths(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _MOST_LISTED:,} more" if len(paths) > _MOST_LISTED else ""
    return ", ".join(map(repr, paths[:_MOST_LISTED])) + more
