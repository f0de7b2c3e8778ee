"""The operators of a composite as steps of a machine: each takes what its operands have newly known and gives what it
now knows itself.

An instance is the list `[last, first, references, parts]`: times in microseconds, its events as texts (`references`),
and the values that a `where` may ask for, by part and attribute, or None. A step's state is made of lists, numbers and
texts only, so it is its own JSON; None stands for the empty state. An instance is never changed once made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tidings.composite.conditions import all_hold
from tidings.language.composites.tree import Condition
from tidings.schema.catalog import Catalog
from tidings.schema.values import Value

Instance = list[Any]
State = Any
LAST, FIRST, EVENTS, PARTS = 0, 1, 2, 3
KNOWN = 4  # of an instance of the root that waited for its frame: when that had passed
OTHER = 2  # the side of what must not happen


@dataclass(slots=True)
class Room:
    """How many instances may wait in an operator, how many were dropped for want of room, and those that waited in
    vain, where they are to be reported: each with the end of its frame, the time that must have passed for this to be
    known, and the number of the step that it waited for."""

    most: int
    dropped: int = 0
    expired: list[tuple[Instance, int, int, int]] = field(default_factory=list)

    def expire(self, instance: Instance, frame_end: int, lag: int, awaited: int) -> None:
        self.expired.append((instance, frame_end, frame_end + lag, awaited))


class Due(NamedTuple):
    """When a state needs to be looked at again, in the step's own time: at the latest when it may give an instance, and
    when all of it may be forgotten. None: never."""

    gives: int | None = None
    empty: int | None = None


def order(instance: Instance) -> list[Any]:
    return instance[:3]


def merged(instances: Sequence[Instance], last: int) -> Instance:
    """The instance of all their events."""
    events = sorted([event for one in instances for event in one[EVENTS]])
    parts: dict[str, Any] | None = None
    for one in instances:
        if one[PARTS] is not None:
            parts = one[PARTS] if parts is None else {**parts, **one[PARTS]}
    return [last, min([one[FIRST] for one in instances]), events, parts]


def once(instances: list[Instance]) -> list[Instance]:
    """In order, each once: of those with the same events and last time, the first made stays."""
    if len(instances) < 2:
        return instances
    instances.sort(key=order)  # stable
    return [one for place, one in enumerate(instances) if not place or order(one) != order(instances[place - 1])]


def shares(instance: Instance, events: Any) -> bool:
    return any(event in events for event in instance[EVENTS])


def arrivals(
    inbox: list[Any], operands: Sequence[list[Instance]], until: int, uneven: bool
) -> list[tuple[int, Instance]]:
    """What the operands have given up to a time, in order, of equals the left one first, as (side, instance). What is
    later stays in the inbox: only where the operands' frontiers differ."""
    new = [(side, one) for side, given in enumerate(operands) for one in given]
    if uneven:
        new += [(side, one) for side, one in inbox]
        inbox[:] = [[side, one] for side, one in new if one[LAST] > until]
        new = [(side, one) for side, one in new if one[LAST] <= until]
    if len(new) > 1:
        new.sort(key=lambda item: (item[1][:3], item[0]))
    return new


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a `where`, ready to be tested."""

    conditions: tuple[Condition, ...]
    catalog: Catalog

    def __bool__(self) -> bool:
        return bool(self.conditions)

    def hold(self, *instances: Instance) -> bool:
        parts: dict[str, dict[str, Sequence[Value]]] = {}
        for one in instances:
            if one[PARTS]:
                parts |= one[PARTS]

        def values(part: str, attribute: str) -> Sequence[Value]:
            return parts[part].get(attribute, ()) if part in parts else ()

        return all_hold(self.conditions, values, self.catalog)


@dataclass(frozen=True, slots=True)
class EitherStep:
    operands: tuple[int, ...]
    lag: int
    uneven: bool
    within: int | None

    def advance(
        self, state: State, given: Sequence[list[Instance]], until: int, room: Room
    ) -> tuple[State, list[Instance]]:
        inbox = state or []
        new = [one for _, one in arrivals(inbox, given, until, self.uneven)]
        if self.within is not None:
            new = [one for one in new if one[LAST] - one[FIRST] <= self.within]
        return inbox or None, once(new)

    def due(self, state: State) -> Due:
        return Due(gives=min(one[LAST] for _, one in state))


@dataclass(frozen=True, slots=True)
class NthStep:
    """The state is how many there were."""

    operands: tuple[int, ...]
    lag: int
    n: int
    within: int | None

    def advance(
        self, state: State, given: Sequence[list[Instance]], until: int, room: Room
    ) -> tuple[State, list[Instance]]:
        before = state or 0
        picked = given[0][self.n - 1 - before :][:1] if before < self.n else []
        if self.within is not None:
            picked = [one for one in picked if one[LAST] - one[FIRST] <= self.within]
        return min(before + len(given[0]), self.n) or None, picked

    def due(self, state: State) -> Due:
        return Due()


@dataclass(frozen=True, slots=True)
class TimesStep:
    """The state is the instances that wait, in order. `reports` those that expire."""

    operands: tuple[int, ...]
    lag: int
    n: int
    within: int
    reports: bool = False

    def advance(
        self, state: State, given: Sequence[list[Instance]], until: int, room: Room
    ) -> tuple[State, list[Instance]]:
        waiting: list[Instance] = state or []
        made: list[Instance] = []
        for x in given[0]:
            last = x[LAST]
            if self.reports:
                waiting = self._pass_frames(waiting, last, room)
            if x[FIRST] + self.within < last:
                continue
            if waiting and waiting[0][FIRST] + self.within < last:
                waiting = [w for w in waiting if w[FIRST] + self.within >= last]
            picked, used = [x], set(x[EVENTS])
            for w in waiting:
                if len(picked) == self.n:
                    break
                if w[FIRST] + self.within >= last and used.isdisjoint(w[EVENTS]):
                    picked.append(w)
                    used.update(w[EVENTS])
            if len(picked) == self.n:
                waiting = [w for w in waiting if not any(w is one for one in picked)]
                made.append([last, min(one[FIRST] for one in picked), sorted(used), None])
                continue
            waiting.append(x)
            if len(waiting) > room.most:
                waiting = [w for w in waiting if w[FIRST] + self.within >= last]
                while len(waiting) > room.most:
                    del waiting[0]
                    room.dropped += 1
        if self.reports:
            waiting = self._pass_frames(waiting, until + 1, room)
        elif waiting and waiting[0][FIRST] + self.within <= until:
            waiting = [w for w in waiting if w[FIRST] + self.within > until]
        return waiting or None, once(made)

    def _pass_frames(self, waiting: list[Instance], before: int, room: Room) -> list[Instance]:
        for w in waiting:
            if w[FIRST] + self.within < before:
                room.expire(w, w[FIRST] + self.within, self.lag, self.operands[0])
        return [w for w in waiting if w[FIRST] + self.within >= before]

    def due(self, state: State) -> Due:
        if self.reports:
            return Due(gives=min(w[FIRST] for w in state) + self.within)
        return Due(empty=state[-1][LAST] + self.within)


@dataclass(frozen=True, slots=True)
class UnlessStep:
    """The state is the inbox and the instances that wait, in order."""

    operands: tuple[int, ...]
    lag: int
    uneven: bool
    within: int
    where: Conditions
    against: Conditions

    def advance(
        self, state: State, given: Sequence[list[Instance]], until: int, room: Room
    ) -> tuple[State, list[Instance]]:
        inbox, waiting = state or ([], [])
        made: list[Instance] = []
        for side, x in arrivals(inbox, given, until, self.uneven):
            waiting = self._pass_frames(waiting, x[LAST], made)
            if side:
                waiting = [p for p in waiting if p[LAST] >= x[FIRST] or (self.against and not self.against.hold(p, x))]
            elif not self.where or self.where.hold(x):
                waiting.append(x)
                while len(waiting) > room.most:
                    del waiting[0]
                    room.dropped += 1
        waiting = self._pass_frames(waiting, until + 1, made)
        return [inbox, waiting] if inbox or waiting else None, once(made)

    def _pass_frames(self, waiting: list[Instance], before: int, made: list[Instance]) -> list[Instance]:
        passed = 0
        while passed < len(waiting) and waiting[passed][LAST] + self.within < before:
            _, first, events, parts = waiting[passed]
            made.append([waiting[passed][LAST] + self.within, first, events, parts])
            passed += 1
        return waiting[passed:] if passed else waiting

    def due(self, state: State) -> Due:
        inbox, waiting = state
        times = [one[LAST] for _, one in inbox]
        return Due(gives=min([*times, waiting[0][LAST] + self.within] if waiting else times))


@dataclass(frozen=True, slots=True)
class AbsentStep:
    """The state is the end of the present frame. `end`: no frame ends after it."""

    operands: tuple[int, ...]
    lag: int
    within: int
    end: int | None

    def advance(
        self, state: State, given: Sequence[list[Instance]], until: int, room: Room
    ) -> tuple[State, list[Instance]]:
        made: list[Instance] = []
        frame_end = state
        for p in given[0]:
            frame_end = self._pass_frames(frame_end, p[LAST], made)
            if frame_end - self.within < p[LAST]:
                frame_end = p[LAST] + self.within
        return self._pass_frames(frame_end, until + 1, made), made

    def far(self, state: State, frames: int) -> int | None:
        """The time by which at most that many frames have ended; None if they have ended."""
        ended = self.end is not None and state > self.end
        return None if ended else int(state) + self.lag + (frames - 1) * self.within

    def _pass_frames(self, frame_end: int, before: int, made: list[Instance]) -> int:
        while frame_end < before:
            if self.end is not None and frame_end > self.end:
                return frame_end
            made.append([frame_end, frame_end, [], None])
            frame_end += self.within
        return frame_end

    def due(self, state: State) -> Due:
        return Due() if self.end is not None and state > self.end else Due(gives=state)
