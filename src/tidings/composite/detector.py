"""The streaming detector: a pure state machine that gives the oracle's detections while the events still arrive.

A **shard** holds the states of some composites' keys, and the matches that are not yet certain to be in order. A state
is loaded when one of its leaves was matched or when time alone changes it; all others stay where they are. So a shard
may keep its states in any mapping, for example one over a database: each is a text of its own (`stored`)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tidings.composite.program import Parts, Program
from tidings.composite.references import event_of, time_of
from tidings.composite.steps import Instance, Room, State
from tidings.composite.trace import MOST_WAITING, Detection
from tidings.schema.values import Value


class Key(NamedTuple):
    """One composite for one combination of values of its `by`."""

    composite: str
    values: tuple[Value, ...] = ()


class Match(NamedTuple):
    """An event that matches leaves of a composite: their places in its text, and the values that its `where` needs."""

    event: str  # a reference: matches are in the order of their events
    key: Key
    leaves: tuple[int, ...]
    parts: Parts | None = None


class Found(NamedTuple):
    composite: str
    detection: Detection


@dataclass(slots=True)
class Shard:
    """`frontier`: the time up to which everything is known. `early`: matches after it. `due`: when to look at a state
    that no event touches; an item is out of date when `times` says another time. `dropped`: how many instances of each
    composite found no room."""

    states: MutableMapping[Key, list[State]] = field(default_factory=dict)
    frontier: int | None = None
    early: list[Match] = field(default_factory=list)
    due: list[tuple[int, Key]] = field(default_factory=list)
    times: dict[Key, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Detector:
    programs: Mapping[str, Program]
    most_waiting: int = MOST_WAITING

    def open(self, shard: Shard, composite: str) -> None:
        """Starts a composite that does not wait for an event: `absent` and time events without `by`."""
        program = self.programs[composite]
        key = Key(composite)
        if program.opens_early and not program.by and key not in shard.states:
            self._store(shard, key, program, program.fresh(program.start))

    def close(self, shard: Shard, composite: str) -> None:
        """Forgets a composite."""
        for key in [key for key in shard.states if key.composite == composite]:
            del shard.states[key]
            shard.times.pop(key, None)
        shard.early = [match for match in shard.early if match.key.composite != composite]

    def advance(self, shard: Shard, matches: Iterable[Match], watermark: int) -> tuple[Shard, list[Found]]:
        """Takes matches in any order, none of them late, and the watermark after them. Gives the same shard, changed,
        and what was detected."""
        return self._advance(shard, matches, watermark - 1)

    def finish(self, shard: Shard, until: int) -> tuple[Shard, list[Found]]:
        """The input has ended, and time runs to `until`."""
        return self._advance(shard, (), until)

    def _advance(self, shard: Shard, matches: Iterable[Match], frontier: int) -> tuple[Shard, list[Found]]:
        shard.early += matches
        if shard.frontier is not None and frontier <= shard.frontier:
            return shard, []
        shard.frontier = frontier
        ready: dict[Key, list[Match]] = {}
        later: list[Match] = []
        for match in shard.early:
            if time_of(match.event) <= frontier:
                ready.setdefault(match.key, []).append(match)
            else:
                later.append(match)
        shard.early = later
        due, times = shard.due, shard.times
        while due and due[0][0] <= frontier:
            time, key = heapq.heappop(due)
            if times.get(key) == time:
                ready.setdefault(key, [])
        found: list[Found] = []
        for key, new in ready.items():
            self._run(shard, key, new, frontier, found)
        return shard, found

    def _run(self, shard: Shard, key: Key, matches: list[Match], frontier: int, found: list[Found]) -> None:
        program = self.programs[key.composite]
        by_leaf: dict[int, list[Instance]] = {}
        if len(matches) > 1:
            matches.sort(key=lambda match: match.event)
        for event, _, places, parts in matches:
            time = time_of(event)
            for place in places:
                named = program.wanted.get(place)
                own = {named[0]: parts[named[0]]} if named and parts and named[0] in parts else None
                by_leaf.setdefault(place, []).append([time, time, [event], own])
        states = shard.states.get(key)
        if states is None:
            if not matches:
                return
            states = program.fresh(time_of(matches[0].event))
        room = Room(self.most_waiting)
        for last, _, events, _ in program.advance(states, by_leaf, frontier, room):
            found.append(Found(key.composite, Detection(key.values, tuple(map(event_of, events)), last)))
        if room.dropped:
            shard.dropped[key.composite] = shard.dropped.get(key.composite, 0) + room.dropped
        self._store(shard, key, program, states)

    def _store(self, shard: Shard, key: Key, program: Program, states: list[State]) -> None:
        if all(state is None for state in states):
            shard.states.pop(key, None)
            shard.times.pop(key, None)
            return
        shard.states[key] = states
        due = program.due(states)
        if due is None:
            shard.times.pop(key, None)
        elif shard.times.get(key) != due:
            shard.times[key] = due
            heapq.heappush(shard.due, (due, key))
