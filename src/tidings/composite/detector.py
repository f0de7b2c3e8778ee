"""The streaming detector: a pure state machine that gives the oracle's detections while the events still arrive.

A **shard** holds the states of some composites' keys, and the matches that are not yet certain to be in order. A state
is loaded when one of its leaves was matched or when time alone changes it; all others stay where they are. So a shard
may keep its three mappings anywhere, for example in a database: `stored` makes a text of each value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from tidings.composite.program import Parts, Program
from tidings.composite.references import bound, event_of, time_of
from tidings.composite.steps import EVENTS, LAST, Instance, Room, State
from tidings.composite.trace import MOST_WAITING, SECOND, Detection
from tidings.schema.values import Value

_AT_ONCE = 30  # matches of a key: each may complete an instance with each of up to `most_waiting` others


class Key(NamedTuple):
    """One composite for one combination of values of its `by`."""

    composite: str
    values: tuple[Value, ...] = ()


class Match(NamedTuple):
    """An event that matches leaves of a composite: their places in its text, and the values that its `where` needs. The
    last key of an event says how many of its keys are left out, since it has too many."""

    event: str  # a reference: matches are in the order of their events
    key: Key
    leaves: tuple[int, ...]
    parts: Parts | None = None
    left_out: int = 0


class Found(NamedTuple):
    """`known`: the frontier from which on it is known, wherever batches are cut."""

    composite: str
    detection: Detection
    known: int


class Entry(NamedTuple):
    """The state of a key: when it is due to be looked at without an event (None: never), and its steps' states. At
    `forget` all of it may be forgotten, and until then time alone gives nothing; None: it must be looked at."""

    due: int | None
    states: list[State]
    forget: int | None = None


@dataclass(slots=True)
class Shard:
    """`entries`: by key. `early`: matches after the frontier, by the second of their events. `due`: keys by the second
    in which they are due; one whose entry has another time is out of date. `frontier`: the time up to which everything
    is known. `dropped`: how many instances of each composite found no room, and
    keys of events that were left out."""

    entries: MutableMapping[Key, Entry] = field(default_factory=dict)
    early: MutableMapping[int, list[Match]] = field(default_factory=dict)
    due: MutableMapping[int, dict[Key, int]] = field(default_factory=dict)
    frontier: int | None = None
    dropped: dict[str, int] = field(default_factory=dict)

    def seconds(self, stored: Mapping[int, object], since: int | None) -> Iterator[int]:
        """Those up to the frontier that are stored; none is before the frontier that was."""
        assert self.frontier is not None
        last = self.frontier // SECOND
        if since is None or last - since // SECOND > len(stored):
            return iter(sorted(second for second in stored if second <= last))
        return (second for second in range(since // SECOND, last + 1) if second in stored)


@dataclass(frozen=True, slots=True)
class Detector:
    programs: Mapping[str, Program]
    most_waiting: int = MOST_WAITING

    def open(self, shard: Shard, composite: str) -> None:
        """Starts a composite that does not wait for an event: `absent` and time events without `by`."""
        program = self.programs[composite]
        key = Key(composite)
        if program.opens_early and not program.by and key not in shard.entries:
            self._store(shard, key, program, Entry(None, program.fresh(program.start)))

    def close(self, shard: Shard, composite: str) -> None:
        """Forgets a composite."""
        _taken_out(shard, {composite})

    def end(
        self, shard: Shard, matches: Iterable[Match], watermarks: Mapping[str, int]
    ) -> Iterator[list[Found]]:  # fmt: skip
        """Composites end, each at a watermark: what is known by then is detected with these matches, their last ones,
        and they are forgotten. So the watermark at which a composite ends decides, and not how batches were cut."""
        own = _taken_out(shard, watermarks.keys())
        last: dict[str, list[Match]] = {}
        for match in matches:
            last.setdefault(match.key.composite, []).append(match)
        for composite, watermark in watermarks.items():
            yield from self._finds(own[composite], last.get(composite, ()), watermark - 1)

    def advance(self, shard: Shard, matches: Iterable[Match], watermark: int) -> tuple[Shard, list[Found]]:
        """Takes matches in any order, none of them late, and the watermark after them. Gives the same shard, changed,
        and what was detected."""
        return self._advance(shard, matches, watermark - 1)

    def finds(self, shard: Shard, matches: Iterable[Match], watermark: int) -> Iterator[list[Found]]:
        """The same as `advance`, a part at a time, so that not everything that is detected is in memory at once."""
        return self._finds(shard, matches, watermark - 1)

    def finish(self, shard: Shard, matches: Iterable[Match], until: int) -> tuple[Shard, list[Found]]:
        """The input has ended with these matches, and time runs to `until`."""
        return self._advance(shard, matches, until)

    def _advance(self, shard: Shard, matches: Iterable[Match], frontier: int) -> tuple[Shard, list[Found]]:
        return shard, list(chain.from_iterable(self._finds(shard, matches, frontier)))

    def _finds(self, shard: Shard, matches: Iterable[Match], frontier: int) -> Iterator[list[Found]]:
        since = shard.frontier
        frontier = frontier if since is None else max(since, frontier)
        shard.frontier = frontier
        ready: dict[Key, list[Match]] = {}
        early: dict[int, list[Match]] = {}
        limit = bound(frontier + 1)
        for match in matches:
            if match.event < limit:
                ready.setdefault(match.key, []).append(match)
            else:
                early.setdefault(time_of(match.event) // SECOND, []).append(match)
        for second in shard.seconds(shard.early, since):
            for match in shard.early.pop(second):
                if match.event < limit:
                    ready.setdefault(match.key, []).append(match)
                else:
                    early.setdefault(second, []).append(match)
        for second, later in early.items():
            shard.early[second] = shard.early.get(second, []) + later
        for second in shard.seconds(shard.due, since):
            keys = shard.due.pop(second)
            waiting = {key: time for key, time in keys.items() if time > frontier}
            if waiting:
                shard.due[second] = waiting
            for key, time in keys.items():
                if time <= frontier and key not in ready:
                    entry = shard.entries.get(key)
                    if entry is None or entry.due != time:
                        continue
                    if entry.forget is None:
                        ready[key] = []
                    elif entry.forget <= frontier:
                        del shard.entries[key]
                    else:
                        shard.entries[key] = entry._replace(due=entry.forget)
                        _make_due(shard, key, entry.forget)
        for key, new in ready.items():
            yield from self._run(shard, key, new)

    def _run(self, shard: Shard, key: Key, matches: list[Match]) -> Iterator[list[Found]]:
        program = self.programs[key.composite]
        _drop(shard, key, sum([match.left_out for match in matches]))
        entry = shard.entries.get(key)
        if entry is None and all(program.idle.issuperset(match.leaves) for match in matches):
            return
        assert shard.frontier is not None
        if len(matches) > 1:
            matches.sort(key=lambda match: match.event)
        if entry is None:
            entry = Entry(None, program.fresh(time_of(matches[0].event)))
        for some, until in _in_parts(matches, shard.frontier):
            passed = None
            while passed != until:
                passed = program.far(entry.states, until)
                now = some if passed == until else [match for match in some if time_of(match.event) <= passed]
                room = Room(self.most_waiting)
                yield _found(program, key, entry.states, now, passed, room)
                _drop(shard, key, room.dropped)
                some = some[len(now) :]
        self._store(shard, key, program, entry)

    def _store(self, shard: Shard, key: Key, program: Program, entry: Entry) -> None:
        """A key is due once at a time: where it is already due, but too early, it is then looked at in vain."""
        due, states, _ = entry
        next_due, forgets = program.due(states)
        if forgets and next_due is None:
            shard.entries.pop(key, None)
            return
        passed = due is None or (shard.frontier is not None and due <= shard.frontier)
        if next_due is not None and (passed or next_due < due):  # type: ignore[operator]
            due = next_due
            _make_due(shard, key, due)
        elif passed:
            due = None
        shard.entries[key] = Entry(due, states, next_due if forgets else None)


def _in_parts(matches: list[Match], frontier: int) -> Iterator[tuple[list[Match], int]]:
    """Matches of a key in order, as many at a time as may each complete something with all that waits; and the time
    that has passed after them."""
    first = 0
    while len(matches) - first > _AT_ONCE:
        last = first + _AT_ONCE
        time = time_of(matches[last].event)
        while last > first and time_of(matches[last - 1].event) == time:  # the same time is not cut
            last -= 1
        if last == first:
            last = next((at for at in range(first, len(matches)) if time_of(matches[at].event) > time), len(matches))
        if last == len(matches):
            break
        yield matches[first:last], time_of(matches[last].event) - 1
        first = last
    yield matches[first:], frontier


def _found(
    program: Program, key: Key, states: list[State], matches: list[Match], until: int, room: Room
) -> list[Found]:  # fmt: skip
    by_leaf: dict[int, list[Instance]] = {}
    for event, _, places, parts, _ in matches:
        time = time_of(event)
        for place in places:
            named = program.wanted.get(place)
            own = {named[0]: parts[named[0]]} if named and parts and named[0] in parts else None
            by_leaf.setdefault(place, []).append([time, time, [event], own])
    found: list[Found] = []
    for one in program.advance(states, by_leaf, until, room):
        detection = Detection(key.values, tuple(map(event_of, one[EVENTS])), one[LAST])
        found.append(Found(key.composite, detection, program.known(one)))
    for instance, time, known, awaited in room.expired:
        expired = Detection(key.values, tuple(map(event_of, instance[EVENTS])), time, awaited)
        found.append(Found(key.composite, expired, known))
    return found


def _drop(shard: Shard, key: Key, count: int) -> None:
    if count:
        shard.dropped[key.composite] = shard.dropped.get(key.composite, 0) + count


def _make_due(shard: Shard, key: Key, time: int) -> None:
    keys = shard.due.get(time // SECOND, {})
    keys[key] = time
    shard.due[time // SECOND] = keys


def _taken_out(shard: Shard, composites: Iterable[str]) -> dict[str, Shard]:
    """What a shard has of some composites, each as a shard of its own."""
    own = {composite: Shard(frontier=shard.frontier, dropped=shard.dropped) for composite in composites}
    for key in [key for key in shard.entries if key.composite in own]:
        own[key.composite].entries[key] = shard.entries[key]
        del shard.entries[key]
    for second, matches in list(shard.early.items()):
        shard.early[second] = [match for match in matches if match.key.composite not in own]
        for match in matches:
            if match.key.composite in own:
                own[match.key.composite].early.setdefault(second, []).append(match)
    for second, keys in shard.due.items():
        for key, time in keys.items():
            if key.composite in own:
                own[key.composite].due.setdefault(second, {})[key] = time
    return own
