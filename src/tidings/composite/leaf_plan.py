"""Which filters must be matched for many composites, and which of their leaves an event's matches belong to. A filter
that many leaves share is matched once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tidings.composite.detector import Key, Match
from tidings.composite.program import Program, Shapes
from tidings.composite.references import reference
from tidings.composite.trace import keys_of
from tidings.language.composites.bound import BoundComposite
from tidings.language.composites.tree import Leaf, leaves
from tidings.language.filter import Filter
from tidings.language.tree import Exists, Node, both
from tidings.schema.catalog import Catalog
from tidings.schema.values import Value

Bound = Mapping[str, Sequence[Value]]


class LeafPlan:
    """`filters` are the different filters of all leaves; a leaf's number is its filter's place among them."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.filters: list[Filter] = []
        self.programs: dict[str, Program] = {}
        self.asked: set[str] = set()  # attributes whose values `matches` needs
        self._shapes: Shapes = {}
        self._numbers: dict[Node, int] = {}
        self._uses: list[dict[str, tuple[int, ...]]] = []  # of each filter: composites, and places in their texts
        self._used: dict[str, list[int]] = {}  # of each composite: the numbers of its filters

    def add(self, id: str, bound: BoundComposite, start: int) -> None:
        """`start` is the subscription's own."""
        program = Program.of(bound.composite, start, self.catalog, self._shapes)
        self._used[id] = []
        by_tree = {filter.tree: filter for filter in bound.filters}
        for place, leaf in enumerate(leaves(bound.composite.tree)):
            if isinstance(leaf, Leaf):
                self._use(by_tree[leaf.filter], id, place)
        if program.opens_early and program.by:
            opens = both([Exists(name) for name in program.by])
            self._use(Filter.of(opens, "", self.catalog), id, program.opener)
        self._keep(id, program)

    def _keep(self, id: str, program: Program) -> None:
        self.programs[id] = program
        self.asked.update(program.by, *(attributes for _, attributes in program.wanted.values()))

    def remove(self, id: str) -> None:
        """Its filters stay, for others to use."""
        del self.programs[id]
        for number in self._used.pop(id):
            self._uses[number].pop(id, None)

    def grow(self, catalog: Catalog, bound: Callable[[str], tuple[BoundComposite, int]]) -> None:
        """The schema has grown. Conditions compare by the newest one; `bound` gives their composites, bound to it, and
        their starts."""
        self.catalog = catalog
        self._shapes = {}
        for id, program in self.programs.items():
            if program.wanted:
                composite, start = bound(id)
                self._keep(id, Program.of(composite.composite, start, catalog, self._shapes))

    def _use(self, filter: Filter, id: str, place: int) -> None:
        number = self._numbers.setdefault(filter.tree, len(self.filters))
        if number == len(self.filters):
            self.filters.append(filter)
            self._uses.append({})
        uses = self._uses[number]
        uses[id] = (*uses.get(id, ()), place)
        self._used[id].append(number)

    def matches(self, time: int, source: str, id: str, bound: Bound, numbers: Sequence[int]) -> list[Match]:
        """What the detector takes for an event that matches the filters of these numbers. `bound`: its values by
        name, the envelope's too; those that are `asked` suffice."""
        places = self._uses[numbers[0]] if len(numbers) == 1 else {}
        for number in numbers if len(numbers) > 1 else ():
            for composite, at in self._uses[number].items():
                places[composite] = (*places[composite], *at) if composite in places else at
        event = reference(time, source, id)
        found: list[Match] = []
        keys: dict[tuple[str, ...], tuple[list[tuple[Value, ...]], int]] = {(): ([()], 0)}
        for composite, matched in places.items():
            program = self.programs[composite]
            if time < program.start or (program.end is not None and time >= program.end):
                continue
            by = program.by
            if by not in keys:
                keys[by] = keys_of([bound.get(name, ()) for name in by])
            parts = _parts(program, matched, bound) if program.wanted else None
            taken, left_out = keys[by]
            found += [Match(event, Key(composite, key), matched, parts) for key in taken]
            if left_out:
                found[-1] = found[-1]._replace(left_out=left_out)
        return found


def _parts(program: Program, places: tuple[int, ...], bound: Bound) -> dict[str, Any]:
    named = (program.wanted[place] for place in places if place in program.wanted)
    return {name: {wanted: list(bound[wanted]) for wanted in asked if wanted in bound} for name, asked in named}
