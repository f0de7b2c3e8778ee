"""The specification of what a composite detects: the machine of composite events, written as plainly as possible, over
a whole trace that is sorted by time. The streaming detector must give the same detections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, assert_never

from tidings.composite.conditions import all_hold
from tidings.composite.frontier import lag, operand_lag
from tidings.composite.trace import MOST_WAITING, Detection, EventKey, Occurrence, keys_of
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
    Pair,
    Part,
    Selection,
    Times,
    Unless,
    expiring,
    leaves,
    nodes,
)
from tidings.schema.catalog import Catalog
from tidings.schema.values import Instant, Value

LEFT, RIGHT, OTHER = 0, 1, 2
_Order = tuple[int, int, tuple[EventKey, ...]]


@dataclass(frozen=True)
class Instance:
    """Some events with a first and a last time; `named` says which event each named part is."""

    last: int
    first: int
    events: tuple[EventKey, ...]
    named: tuple[tuple[str, Occurrence], ...] = ()

    @property
    def order(self) -> _Order:
        return self.last, self.first, self.events

    def shares_an_event(self, events: Iterable[EventKey]) -> bool:
        return not set(self.events).isdisjoint(events)


@dataclass
class _Waiting:
    instance: Instance
    side: int
    chances: int = 0
    remembered: Instance | None = None  # under `last`

    @property
    def order(self) -> tuple[object, ...]:
        return self.instance.order, self.side


Waits = TypeVar("Waits", Instance, _Waiting)


@dataclass
class Oracle:
    """Evaluates one composite over one trace. `start` is the subscription's own, unless the composite says another;
    `until` is the time to which the input runs. `dropped` counts the instances for which there was no room, and keys
    beyond those in which an event may take part."""

    composite: Composite
    catalog: Catalog
    start: int
    until: int
    most_waiting: int = MOST_WAITING
    dropped: int = field(default=0, init=False)

    def detections(self, trace: Iterable[Occurrence]) -> list[Detection]:
        composite = self.composite
        start = self.start if composite.start is None else int(composite.start)
        end = self.until if composite.span is None else start + int(composite.span) - 1
        by_key: dict[tuple[Value, ...], list[Occurrence]] = {}
        if not composite.by:
            by_key[()] = []
        for occurrence in sorted(trace, key=lambda one: one.event):
            if start <= occurrence.event.time <= min(end, self.until):
                keys, left_out = keys_of([occurrence.values.get(name, ()) for name in composite.by])
                self.dropped += left_out
                for key in keys:
                    by_key.setdefault(key, []).append(occurrence)
        found: list[Detection] = []
        for key, occurrences in by_key.items():
            begin = occurrences[0].event.time if composite.by else start
            run = _Run(self, occurrences, begin, end)
            found += (Detection(key, one.events, one.last) for one in run.root())
            found += (Detection(key, events, time, awaited) for (_, _, events), time, awaited in sorted(run.expired))
        return sorted(found, key=lambda one: (one.time, one.events, one.key, one.awaited))


@dataclass
class _Run:
    """One key. `begin`: when its first frame and its time events begin; `end`: the last time that takes part."""

    oracle: Oracle
    trace: list[Occurrence]
    begin: int
    end: int

    def __post_init__(self) -> None:
        composite = self.oracle.composite
        self.places = {id(leaf): place for place, leaf in enumerate(leaves(composite.tree))}
        self.numbers = {id(node): number for number, node in enumerate(nodes(composite.tree))}
        self.reporting = {id(node) for node in expiring(composite.tree)} if composite.expired else set()
        self.expired: set[tuple[_Order, int, int]] = set()  # what waited in vain, the end of its frame, and for what

    def root(self) -> list[Instance]:
        tree = self.oracle.composite.tree
        return list(self._absent(tree)) if isinstance(tree, Absent) else self.known(tree)

    def frontier(self, node: Part) -> int:
        return self.oracle.until - lag(node)

    def known(self, node: Part) -> list[Instance]:
        """All instances of the node that are known when the input has ended, in order, each once."""
        found: dict[_Order, Instance] = {}
        for instance in self._made(node):
            found.setdefault(instance.order, instance)
        return [found[order] for order in sorted(found)]

    def taken(self, node: Part, until: int) -> list[Instance]:
        """What an operator takes from an operand."""
        return [instance for instance in self.known(node) if instance.last <= until]

    def _made(self, node: Part) -> Iterator[Instance]:
        until = (
            self.oracle.until if isinstance(node, Leaf | Every | EveryDay) else self.oracle.until - operand_lag(node)
        )
        match node:
            case Leaf(name=name):
                for one in self.trace:
                    if self.places[id(node)] in one.leaves:
                        yield Instance(one.event.time, one.event.time, (one.event,), ((name, one),) if name else ())
            case Every(name=name) | EveryDay(name=name):
                for time in time_events(node, Instant(self.begin), Instant(min(self.end, until) + 1)):
                    one = Occurrence(EventKey(time, SOURCE, time_event_id(node, time)), frozenset())
                    yield Instance(time, time, (one.event,), ((name, one),) if name else ())
            case Either(left, right, within):
                for instance, _ in _in_order(self.taken(left, until), self.taken(right, until)):
                    if within is None or instance.last - instance.first <= within:
                        yield instance
            case Before() | Both():
                yield from self._pairs(node, until)
            case Unless():
                yield from self._unless(node, until)
            case Nth(term, n, within):
                for instance in self.taken(term, until)[n - 1 : n]:
                    if within is None or instance.last - instance.first <= within:
                        yield instance
            case Times():
                yield from self._times(node, until)
            case _:
                assert_never(node)

    def _pairs(self, node: Pair, until: int) -> Iterator[Instance]:
        without = node.without if isinstance(node, Before) else None
        others = [] if without is None else self.taken(without.term, until)
        waiting: list[_Waiting] = []
        between: list[Instance] = []  # of what must not happen
        consumed: set[EventKey] = set()
        paired: set[tuple[int, _Order]] = set()  # the instances of each side that took part in a pair

        def frame_end(w: _Waiting) -> int:
            return w.instance.first + node.within

        def can_pair(w: _Waiting) -> bool:
            counting = node.select[1 - w.side]
            return not w.instance.shares_an_event(consumed) and (isinstance(counting, str) or w.chances < counting)

        def pass_frames(before: int) -> Iterator[Instance]:
            passed = [w for w in waiting if frame_end(w) < before]
            for w in sorted(passed, key=lambda w: (frame_end(w), w.order)):
                waiting.remove(w)
                if w.remembered is not None:
                    yield from make(w, w.remembered)
                if (w.side, w.instance.order) not in paired and not w.instance.shares_an_event(consumed):
                    self._expire(node, w.instance, (node.right, node.left)[w.side])

        def make(w: _Waiting, x: Instance) -> Iterator[Instance]:
            if not (w.instance.shares_an_event(consumed) or x.shares_an_event(consumed)):
                paired.update([(w.side, w.instance.order), (1 - w.side, x.order)])
                if node.unique:
                    consumed.update(w.instance.events, x.events)
                if not node.final or frame_end(w) <= until:
                    yield _together([w.instance, x])

        for x, side in _in_order(self.taken(node.left, until), self.taken(node.right, until), others):
            yield from pass_frames(x.last)
            waiting[:] = [w for w in waiting if can_pair(w)]
            between[:] = [r for r in between if any(w.instance.last < r.first for w in waiting)]
            if side == OTHER:
                if any(w.instance.last < x.first for w in waiting):
                    between.append(x)
                    self._limit(between)
                continue
            if not x.shares_an_event(consumed) and (side == RIGHT or isinstance(node, Both)):
                candidates = [
                    w
                    for w in sorted(waiting, key=lambda w: w.order)
                    if w.side != side
                    and self._valid(node, *((w.instance, x) if side == RIGHT else (x, w.instance)), between)
                ]
                for w in candidates:
                    w.chances += 1
                counting = node.select[side]
                counted = [w for w in candidates if isinstance(counting, str) or w.chances == counting]
                for w in _selected(counted, node.select[1 - side]):
                    if counting == "last":
                        w.remembered = x
                    else:
                        yield from make(w, x)
            waiting[:] = [w for w in waiting if can_pair(w)]
            new = _Waiting(x, side)
            if (side == LEFT or isinstance(node, Both)) and can_pair(new) and frame_end(new) >= x.last:
                waiting.append(new)
                self._limit(waiting)
        yield from pass_frames(until + 1)

    def _valid(self, node: Pair, p: Instance, q: Instance, between: list[Instance]) -> bool:
        return (
            (isinstance(node, Both) or p.last < q.first)
            and max(p.last, q.last) - min(p.first, q.first) <= node.within
            and not p.shares_an_event(q.events)
            and self._hold(node.where, p, q)
            and not any(
                p.last < r.first and r.last < q.first and self._hold(node.without.where, p, q, r)
                for r in between
                if isinstance(node, Before) and node.without is not None
            )
        )

    def _hold(self, conditions: Sequence[Condition], *instances: Instance) -> bool:
        named = dict(pair for instance in instances for pair in instance.named)

        def values(part: str, attribute: str) -> Sequence[Value]:
            return named[part].bound(attribute) if part in named else ()

        return all_hold(conditions, values, self.oracle.catalog)

    def _unless(self, node: Unless, until: int) -> Iterator[Instance]:
        waiting: list[Instance] = []
        for x, side in _in_order(self.taken(node.term, until), [], self.taken(node.without.term, until)):
            passed = [p for p in waiting if p.last + node.within < x.last]
            yield from (_later(p, node.within) for p in passed)
            waiting = [p for p in waiting if p not in passed]
            if side == LEFT and self._hold(node.where, x):
                waiting.append(x)
                self._limit(waiting)
            elif side == OTHER:
                waiting = [p for p in waiting if p.last >= x.first or not self._hold(node.without.where, p, x)]
        yield from (_later(p, node.within) for p in waiting if p.last + node.within <= until)

    def _times(self, node: Times, until: int) -> Iterator[Instance]:
        waiting: list[Instance] = []

        def pass_frames(before: int) -> None:
            for w in waiting:
                if w.first + node.within < before:
                    self._expire(node, w, node.term)
            waiting[:] = [w for w in waiting if w.first + node.within >= before]

        for x in self.taken(node.term, until):
            pass_frames(x.last)
            if x.first + node.within < x.last:
                continue
            picked = [x]
            for w in waiting:
                if len(picked) < node.n and not any(w.shares_an_event(one.events) for one in picked):
                    picked.append(w)
            if len(picked) == node.n:
                waiting[:] = [w for w in waiting if w not in picked]
                yield _together(picked, named=False)
            else:
                waiting.append(x)
                self._limit(waiting)
        pass_frames(until + 1)

    def _absent(self, node: Absent) -> Iterator[Instance]:
        until = self.frontier(node.term)
        ends = []
        frame_end = self.begin + node.within
        for p in self.taken(node.term, until):
            while frame_end < p.last:
                ends.append(frame_end)
                frame_end += node.within
            if frame_end - node.within < p.last:
                frame_end = p.last + node.within
        while frame_end <= until:
            ends.append(frame_end)
            frame_end += node.within
        return (Instance(end, end, ()) for end in ends if end <= self.end + 1)

    def _expire(self, node: Pair | Times, waited: Instance, awaited: Part) -> None:
        """Its frame has passed, and it took part in nothing."""
        if id(node) in self.reporting:
            self.expired.add((waited.order, waited.first + node.within, self.numbers[id(awaited)]))

    def _limit(self, waiting: list[Waits]) -> None:
        """Drops the first in order where too many wait."""
        if len(waiting) > self.oracle.most_waiting:
            waiting.remove(min(waiting, key=lambda one: one.order))
            self.oracle.dropped += 1


def _in_order(
    left: list[Instance], right: list[Instance], others: Sequence[Instance] = ()
) -> list[tuple[Instance, int]]:
    """All of them, in order; of equals, the left one first."""
    sided = [(one, side) for side, operand in enumerate((left, right, others)) for one in operand]
    return sorted(sided, key=lambda one: one[0].order)


def _selected(waiting: list[_Waiting], selection: Selection) -> list[_Waiting]:
    if selection == "all":
        return waiting
    return waiting[-1:] if selection == "last" else waiting[selection - 1 : selection]


def _together(instances: list[Instance], named: bool = True) -> Instance:
    events = tuple(sorted(event for one in instances for event in one.events))
    names = tuple(pair for one in instances for pair in one.named) if named else ()
    return Instance(max(one.last for one in instances), min(one.first for one in instances), events, names)


def _later(p: Instance, span: int) -> Instance:
    return replace(p, last=p.last + span)
