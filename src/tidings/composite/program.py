"""A composite, ready to run: its operators as steps in an order in which operands come first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from tidings.composite.conditions import attributes_of
from tidings.composite.frontier import lag, operand_lag, own_lag
from tidings.composite.pairs import PairStep
from tidings.composite.references import reference
from tidings.composite.steps import (
    KNOWN,
    LAST,
    AbsentStep,
    Conditions,
    EitherStep,
    Instance,
    NthStep,
    Room,
    State,
    TimesStep,
    UnlessStep,
)
from tidings.language.composites.time_leaves import SOURCE, time_event_id, time_events
from tidings.language.composites.tree import (
    Absent,
    Before,
    Both,
    Composite,
    Condition,
    Either,
    Every,
    EveryDay,
    Leaf,
    Nth,
    Root,
    TimeLeaf,
    Times,
    Unless,
    expiring,
    leaves,
    operands,
)
from tidings.language.tree import Exists
from tidings.schema.catalog import Catalog
from tidings.schema.values import UNITS, Instant

_AT_ONCE = 1_000  # time events, or frames of silence, that come together
_DAY = UNITS["day"]
_ANY = Exists("event.id")
Parts = Mapping[str, Mapping[str, Sequence[Any]]]
Operator = EitherStep | NthStep | TimesStep | UnlessStep | AbsentStep | PairStep


@dataclass(frozen=True, slots=True)
class LeafStep:
    """`place`: which leaf of the text it is."""

    place: int
    name: str | None


@dataclass(frozen=True, slots=True)
class TimeStep:
    """A time event comes by itself. The state is the time from which it has not been asked."""

    leaf: TimeLeaf
    wanted: tuple[str, ...]
    end: int | None

    def advance(self, state: int, until: int) -> tuple[int, list[Instance]]:
        stop = until + 1 if self.end is None else min(until + 1, self.end)
        return max(state, stop), [
            self._instance(time) for time in time_events(self.leaf, Instant(state), Instant(stop))
        ]

    def next(self, state: int) -> int | None:
        """When the next event is due."""
        far = state + (int(self.leaf.span) if isinstance(self.leaf, Every) else 3 * _DAY)
        time = next(time_events(self.leaf, Instant(state), Instant(far + 1)), far)
        return None if self.end is not None and time >= self.end else int(time)

    def far(self, state: int, events: int) -> int | None:
        """The time by which about that many events have come; None if they have ended."""
        ended = self.end is not None and state >= self.end
        period = int(self.leaf.span) if isinstance(self.leaf, Every) else _DAY
        return None if ended else state + events * period

    def _instance(self, time: Instant) -> Instance:
        id = time_event_id(self.leaf, time)
        envelope = {"event.time": [int(time)], "event.source": [SOURCE], "event.id": [id]}
        named = {name: envelope[name] for name in self.wanted if name in envelope}
        parts = {self.leaf.name: named} if self.leaf.name and named else None
        return [int(time), int(time), [reference(time, SOURCE, id)], parts]


@dataclass(frozen=True, slots=True)
class Program:
    """`wanted`: the attributes that a `where` asks of each leaf, by its place. `start` and `end`: only events in
    [start, end) take part. `opens_early`: a key runs from its first event on (without `by`, from the start), whether
    that matches a leaf or not; such an event matches the leaf `opener`. `idle`: the places of leaves that only complete
    or forbid, so that they mean nothing to a key without a state."""

    steps: tuple[LeafStep | TimeStep | Operator, ...]
    by: tuple[str, ...]
    start: int
    end: int | None
    wanted: Mapping[int, tuple[str, tuple[str, ...]]]
    opens_early: bool
    opener: int
    idle: frozenset[int] = frozenset()

    @classmethod
    def of(cls, composite: Composite, start: int, catalog: Catalog, shapes: Shapes | None = None) -> Program:
        """`start` is the subscription's own, unless the composite says another. Composites that differ in nothing but
        their filters share their steps, where they are given the same `shapes`."""
        start = start if composite.start is None else int(composite.start)
        end = None if composite.span is None else start + int(composite.span)
        shapes = {} if shapes is None else shapes
        shape = _without_filters(composite.tree), composite.by, end, composite.expired
        if shape not in shapes:
            shapes[shape] = cls._compiled(composite, start, end, catalog)
        return replace(shapes[shape], start=start)

    @classmethod
    def _compiled(cls, composite: Composite, start: int, end: int | None, catalog: Catalog) -> Program:
        all_leaves = tuple(leaves(composite.tree))
        asked: dict[str, tuple[str, ...]] = {}
        for part, attribute in (pair for one in _conditions(composite.tree) for pair in attributes_of(one)):
            asked[part] = tuple(dict.fromkeys((*asked.get(part, ()), attribute)))
        reporting = {id(node) for node in expiring(composite.tree)} if composite.expired else set()
        builder = _Builder(catalog, end, asked, reporting)
        builder.add(composite.tree, is_root=True)
        wanted = {
            place: (leaf.name, asked[leaf.name])
            for place, leaf in enumerate(all_leaves)
            if leaf.name is not None and leaf.name in asked and isinstance(leaf, Leaf)
        }
        early = isinstance(composite.tree, Absent) or any(not isinstance(leaf, Leaf) for leaf in all_leaves)
        steps = tuple(builder.steps)
        idle = frozenset() if early else frozenset(_idle(steps))
        return cls(steps, composite.by, start, end, wanted, early, len(all_leaves), idle)

    def fresh(self, begin: int) -> list[State]:
        """The states of a key whose first frame begins at a time."""
        if not self.opens_early:
            return [None] * len(self.steps)
        return [self._fresh(step, begin) for step in self.steps]

    def _fresh(self, step: LeafStep | TimeStep | Operator, begin: int) -> State:
        match step:
            case TimeStep():
                return begin
            case AbsentStep():
                return begin + step.within
            case _:
                return None

    def far(self, states: list[State], until: int) -> int:
        """How far time may go at once, up to `until`: not so far that very much comes by itself."""
        if not self.opens_early:
            return until
        timed = (
            step.far(state, _AT_ONCE)
            for step, state in zip(self.steps, states, strict=True)
            if isinstance(step, TimeStep | AbsentStep)
        )
        return min([until, *(far for far in timed if far is not None)])

    def advance(
        self, states: list[State], matches: Mapping[int, list[Instance]], until: int, room: Room
    ) -> list[Instance]:
        """Time goes on to `until`: `matches` are the instances of the leaves up to there that are new, by the place of
        the leaf and in order. Changes the states; gives the new instances of the root."""
        known: list[list[Instance]] = []
        for number, step in enumerate(self.steps):
            if isinstance(step, LeafStep):
                known.append(matches.get(step.place, []))
            elif isinstance(step, TimeStep):
                states[number], new = step.advance(states[number], until)
                known.append(new)
            else:
                given = [known[operand] for operand in step.operands]
                if states[number] is None and not any(given):
                    known.append(given[0])
                    continue
                states[number], new = step.advance(states[number], given, until - step.lag, room)
                known.append(new)
        return known[-1]

    def known(self, instance: Instance) -> int:
        """The time that must have passed for an instance of the root to be known."""
        root = self.steps[-1]
        lag = 0 if isinstance(root, LeafStep | TimeStep) else root.lag
        known: int = instance[KNOWN] if len(instance) > KNOWN else instance[LAST]
        return known + lag

    def due(self, states: list[State]) -> tuple[int | None, bool]:
        """The time up to which nothing happens by itself, and whether all of it may be forgotten then; else it may give
        an instance. (None, True): there is nothing to keep."""
        gives: int | None = None
        empty: int | None = None
        forgets = True
        for step, state in zip(self.steps, states, strict=True):
            if state is None:
                continue
            if isinstance(step, TimeStep):
                time = step.next(state)
                forgets = False
            elif isinstance(step, LeafStep):
                continue
            else:
                due = step.due(state)
                time = None if due.gives is None else due.gives + step.lag
                if due.empty is None:
                    forgets = False
                elif empty is None or due.empty + step.lag > empty:
                    empty = due.empty + step.lag
            if time is not None and (gives is None or time < gives):
                gives = time
        return (empty, forgets) if gives is None else (gives, False)


Shapes = dict[tuple[Root, tuple[str, ...], int | None, bool], Program]


def _without_filters(node: Root) -> Root:
    """The same tree with one filter for all leaves."""
    if isinstance(node, Leaf):
        return replace(node, filter=_ANY)
    below: dict[str, Any] = {}
    for name in ("left", "right", "term"):
        if hasattr(node, name):
            below[name] = _without_filters(getattr(node, name))
    without = getattr(node, "without", None)
    if without is not None:
        below["without"] = replace(without, term=_without_filters(without.term))
    return replace(node, **below)


def _idle(steps: tuple[LeafStep | TimeStep | Operator, ...]) -> Iterator[int]:
    """Under `before` and `unless`, all but what may begin. Operands with other frontiers wait in an inbox."""
    for step in steps:
        if (isinstance(step, UnlessStep) or (isinstance(step, PairStep) and step.before)) and not step.uneven:
            for operand in (steps[number] for number in step.operands[1:]):
                if isinstance(operand, LeafStep):
                    yield operand.place


def _conditions(node: Root) -> list[Condition]:
    found: list[Condition] = []
    match node:
        case Before() | Both() | Unless():
            found += node.where
    if isinstance(node, Before | Unless) and node.without is not None:
        found += node.without.where
    return found + [one for operand in operands(node) for one in _conditions(operand)]


@dataclass(slots=True)
class _Builder:
    catalog: Catalog
    end: int | None
    asked: dict[str, tuple[str, ...]]
    reporting: set[int]  # the ids of the nodes that report what expires
    steps: list[LeafStep | TimeStep | Operator] = field(default_factory=list)
    places: int = 0

    def add(self, node: Root, is_root: bool = False) -> int:
        """The number of the node's step, which is added after those of its operands."""
        below = tuple([self.add(operand) for operand in operands(node)])
        self.steps.append(self._step(node, below, is_root))
        return len(self.steps) - 1

    def _step(self, node: Root, below: tuple[int, ...], is_root: bool) -> LeafStep | TimeStep | Operator:
        if isinstance(node, Leaf | Every | EveryDay):
            self.places += 1
            if isinstance(node, Leaf):
                return LeafStep(self.places - 1, node.name)
            return TimeStep(node, self.asked.get(node.name or "", ()), self.end)
        late = operand_lag(node)
        uneven = len({lag(operand) for operand in operands(node)}) > 1
        match node:
            case Either(within=within):
                return EitherStep(below, late, uneven, within)
            case Nth(n=n, within=within):
                return NthStep(below, late, n, within)
            case Times(n=n, within=within):
                return TimesStep(below, late, n, within, id(node) in self.reporting)
            case Unless(within=within):
                return UnlessStep(below, late, uneven, within, self._ready(node.where), self._ready(node.without.where))
            case Absent(within=within):
                return AbsentStep(below, late, within, self.end)
            case Before() | Both():
                before = isinstance(node, Before)
                against = node.without.where if isinstance(node, Before) and node.without is not None else ()
                return PairStep(
                    below,
                    late,
                    uneven,
                    own_lag(node),
                    is_root,
                    before,
                    node.within,
                    node.select,
                    node.unique,
                    node.final,
                    self._ready(node.where),
                    self._ready(against),
                    id(node) in self.reporting,
                )
            case _:
                assert_never(node)

    def _ready(self, conditions: tuple[Condition, ...]) -> Conditions:
        return Conditions(conditions, self.catalog)
