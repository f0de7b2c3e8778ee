"""The delivery tree: filters at the nodes of the sketch tree, linked by covering (XEvent, section IV.B, figure 6).

A parent is more specific than its children, so a document that satisfies it satisfies all below. The parent of a filter
is the nearest that it covers; of several, the first by text. The root of each element path has a virtual filter, which
leads to the filters that have no parent; and to those that have one, but whose parent cannot be met along that element
path: the paper does not say this, and without it a document that has no `volume` would miss `/SigmodRecord/issue/*`
below `/SigmodRecord/issue/volume`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tidings.overlay.xevent.sketch import Node, SketchTree
from tidings.paths.covering import covers
from tidings.paths.printer import path_text
from tidings.paths.tree import Attribute, Element, Path


@dataclass(frozen=True, slots=True)
class PlacedPath:
    """An instance of a path at a node. `ways` are the roots that lead to it."""

    text: str
    node: Node
    path: Path = field(compare=False, repr=False)
    ways: frozenset[Node] = field(compare=False, repr=False)
    names: frozenset[str] = field(compare=False, repr=False)

    def __lt__(self, other: PlacedPath) -> bool:
        return (self.text, self.node) < (other.text, other.node)


class DeliveryTree:
    def __init__(self, sketch: SketchTree) -> None:
        self.sketch = sketch
        self.subscribers: dict[PlacedPath, set[int]] = {}
        self._covered: dict[PlacedPath, set[PlacedPath]] = {}  # the nearest that it covers
        self._covering: dict[PlacedPath, set[PlacedPath]] = {}  # the nearest that cover it

    def placed(self, path: Path) -> list[PlacedPath]:
        return [
            PlacedPath(path_text(instance), node, instance, self.sketch.ways(instance, node), _names(instance))
            for instance, node in self.sketch.placements(path)
        ]

    def subscribe(self, subscriber: int, path: Path) -> list[PlacedPath]:
        found = self.placed(path)
        for filter in found:
            if filter not in self.subscribers:
                self._insert(filter)
            self.subscribers.setdefault(filter, set()).add(subscriber)
        return found

    def unsubscribe(self, subscriber: int, path: Path) -> None:
        for filter in self.placed(path):
            self.subscribers[filter].remove(subscriber)
            if not self.subscribers[filter]:
                del self.subscribers[filter]
                self._remove(filter)

    def parent(self, filter: PlacedPath) -> PlacedPath | None:
        """None: only virtual filters lead to it."""
        return min(self._covered[filter], default=None)

    def entered_from(self, filter: PlacedPath) -> frozenset[Node]:
        """The roots whose virtual filter leads to it directly."""
        parent = self.parent(filter)
        return filter.ways if parent is None else filter.ways - parent.ways

    def links(self) -> dict[Node, set[Node]]:
        """From node to node, for the links between filters at different nodes and from virtual filters."""
        found: dict[Node, set[Node]] = {}
        for filter in self.subscribers:
            parent = self.parent(filter)
            for node in self.entered_from(filter) | (frozenset() if parent is None else {parent.node}):
                if node != filter.node:
                    found.setdefault(node, set()).add(filter.node)
        return found

    def satisfied(self, reached: Iterable[Node], holds: Callable[[PlacedPath], bool]) -> dict[PlacedPath, bool]:
        """The filters at these nodes that a document satisfies, and whether each had to be tested. What satisfies the
        parent satisfies the filter, untested."""
        nodes = frozenset(reached)
        found: dict[PlacedPath, bool] = {}
        for filter in self._from_specific():
            if filter.node in nodes:
                if self.parent(filter) in found:
                    found[filter] = False
                elif holds(filter):
                    found[filter] = True
        return found

    def _from_specific(self) -> Iterator[PlacedPath]:
        """Each after its parent."""
        below: dict[PlacedPath | None, list[PlacedPath]] = {}
        for filter in self.subscribers:
            below.setdefault(self.parent(filter), []).append(filter)
        waiting = list(below.get(None, ()))
        while waiting:
            filter = waiting.pop()
            yield filter
            waiting += below.get(filter, ())

    def _insert(self, filter: PlacedPath) -> None:
        covered = _closed(self._covered, self._covering, lambda other: more_specific(other, filter))
        covering = _closed(self._covering, self._covered, lambda other: more_specific(filter, other))
        nearest_below = {other for other in covered if not self._covering[other] & covered}
        nearest_above = {other for other in covering if not self._covered[other] & covering}
        for below in nearest_below:
            for above in nearest_above & self._covering[below]:
                self._covering[below].remove(above)
                self._covered[above].remove(below)
            self._covering[below].add(filter)
        for above in nearest_above:
            self._covered[above].add(filter)
        self._covered[filter], self._covering[filter] = nearest_below, nearest_above

    def _remove(self, filter: PlacedPath) -> None:
        covered, covering = self._covered.pop(filter), self._covering.pop(filter)
        for below in covered:
            self._covering[below].remove(filter)
        for above in covering:
            self._covered[above].remove(filter)
        for below in covered:
            for above in covering:
                between = self._covering[below]
                if above not in between and not any(more_specific(other, above) for other in between):
                    self._covering[below].add(above)
                    self._covered[above].add(below)


def _closed(
    back: Mapping[PlacedPath, set[PlacedPath]],
    onward: Mapping[PlacedPath, set[PlacedPath]],
    related: Callable[[PlacedPath], bool],
) -> set[PlacedPath]:
    """All that are related, when whatever is back of a related one is: from one end of the order as far as it holds."""
    found: set[PlacedPath] = set()
    waiting = [filter for filter, others in back.items() if not others]
    seen = set(waiting)
    while waiting:
        filter = waiting.pop()
        if related(filter):
            found.add(filter)
            more = onward[filter] - seen
            seen |= more
            waiting += more
    return found


def more_specific(one: PlacedPath, other: PlacedPath) -> bool:
    """Whether the second covers the first; of two that cover each other, the first by text is the more specific. The
    names tell most pairs apart in less time than the paths."""
    if not (other.names <= one.names and one.ways <= other.ways):
        return False
    if one.node[: len(other.node)] != other.node or not covers(other.path, one.path):
        return False
    return one < other or not covers(one.path, other.path)


def _names(path: Path) -> frozenset[str]:
    """Of a path that this one covers, each must be a name, too."""
    return frozenset(
        ("@" if isinstance(step.node, Attribute) else "") + step.node.name.local
        for step in path.steps
        if isinstance(step.node, Element | Attribute) and step.node.name is not None
    )
