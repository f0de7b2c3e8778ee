"""`before` and `and`: instances of one operand wait for those of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidings.composite.references import time_of
from tidings.composite.steps import (
    EVENTS,
    FIRST,
    LAST,
    OTHER,
    Conditions,
    Due,
    Instance,
    Room,
    State,
    arrivals,
    merged,
    once,
    order,
    shares,
)
from tidings.language.composites.tree import Selection

# The state: a list of these.
INBOX, WAITING, BETWEEN, CONSUMED, MADE, REPORTED = range(6)

# What waits: an instance, the chances that it has had, and under `last` the one that it remembers; where expired ones
# are reported, whether it has taken part in a pair.
INSTANCE, CHANCES, REMEMBERED, PAIRED = range(4)


@dataclass(frozen=True, slots=True)
class PairStep:
    """`own_lag`: how long after its last time a pair may become known. `is_root`: its instances are detections, so they
    are given as soon as they are known. `reports` what waits in vain until its frame has passed."""

    operands: tuple[int, ...]
    lag: int
    uneven: bool
    own_lag: int
    is_root: bool
    before: bool
    within: int
    select: tuple[Selection, Selection]
    unique: bool
    final: bool
    where: Conditions
    against: Conditions
    reports: bool = False

    def advance(
        self, state: State, given: Sequence[list[Instance]], until: int, room: Room
    ) -> tuple[State, list[Instance]]:
        if state is None:
            # Under `before` what completes or forbids means nothing while nothing waits.
            if not (any(given) if self.uneven or not self.before else given[0]):
                return None, []
            state = [[], [[], []], [], {}, [], []]
        made: list[Any] = state[MADE]
        waiting, between = state[WAITING], state[BETWEEN]
        passes = self.reports or "last" in self.select
        for side, x in arrivals(state[INBOX], given, until, self.uneven):
            last = x[LAST]
            if passes:
                self._pass_frames(state, last, room)
            if side == OTHER:
                if waiting[0] and waiting[0][0][INSTANCE][LAST] < x[FIRST]:
                    between.append(x)
                    if len(between) > room.most:
                        self._forget(state, last)
                        while len(between) > room.most:
                            del between[0]
                            room.dropped += 1
                continue
            paired = False
            if side or not self.before:
                if waiting[1 - side] and not (state[CONSUMED] and shares(x, state[CONSUMED])):
                    paired = self._complete(state, side, x)
                if self.before:
                    continue
            if x[FIRST] + self.within >= last and not (state[CONSUMED] and shares(x, state[CONSUMED])):
                waiting[side].append([x, 0, None, paired] if self.reports else [x, 0, None])
                if len(waiting[0]) + len(waiting[1]) > room.most:
                    self._forget(state, last)
                    self._drop(waiting, room)
        if passes:
            self._pass_frames(state, until + 1, room)
        for queue in waiting:
            passed = 0
            while passed < len(queue) and queue[passed][INSTANCE][FIRST] + self.within <= until:
                passed += 1
            if passed:
                del queue[:passed]
        if between:
            between[:] = [r for r in between if waiting[0] and waiting[0][0][INSTANCE][LAST] < r[FIRST]]
        if state[CONSUMED]:
            # A remembered pair may have begun a frame before the one that waits.
            state[CONSUMED] = {event: time for event, time in state[CONSUMED].items() if time + 2 * self.within > until}
        known = self._known(state, until) if made else []
        if state[REPORTED]:
            state[REPORTED] = [one for one in state[REPORTED] if one[LAST] > until - self.own_lag]
        kept = waiting[0] or waiting[1] or between or any(state[at] for at in (INBOX, CONSUMED, MADE, REPORTED))
        return state if kept else None, known

    def _complete(self, state: State, side: int, x: Instance) -> bool:
        """x completes pairs with the instances of the other operand that wait. Gives whether it took part in one."""
        queue: list[Any] = state[WAITING][1 - side]
        counting, picking = self.select[side], self.select[1 - side]
        chosen = [w for w in queue if self._valid(state, side, w[INSTANCE], x)]
        if not chosen:
            return False
        paired = False
        if not isinstance(counting, str):
            for w in chosen:
                w[CHANCES] += 1
            chosen = [w for w in chosen if w[CHANCES] == counting]
        if picking != "all":
            chosen = chosen[-1:] if picking == "last" else chosen[picking - 1 : picking]
        for w in chosen:
            if counting == "last":
                w[REMEMBERED] = x
            else:
                paired |= self._make(state, w, x, x[LAST])
        if not isinstance(counting, str):
            queue[:] = [w for w in queue if w[CHANCES] < counting]
        if self.unique and counting != "last" and chosen:
            self._forget_consumed(state)
        return paired

    def _valid(self, state: State, side: int, w: Instance, x: Instance) -> bool:
        p, q = (w, x) if side else (x, w)
        if x[LAST] - min(w[FIRST], x[FIRST]) > self.within or (self.before and p[LAST] >= q[FIRST]):
            return False
        if state[CONSUMED] and shares(w, state[CONSUMED]):
            return False
        if not self.before and shares(w, x[EVENTS]):
            return False
        if self.where and not self.where.hold(p, q):
            return False
        return not any(
            p[LAST] < r[FIRST] and r[LAST] < q[FIRST] and (not self.against or self.against.hold(p, q, r))
            for r in state[BETWEEN]
        )

    def _make(self, state: State, waiting: Any, x: Instance, known: int) -> bool:
        w, consumed = waiting[INSTANCE], state[CONSUMED]
        if consumed and (shares(w, consumed) or shares(x, consumed)):
            return False
        if self.reports:
            waiting[PAIRED] = True
        if self.unique:
            consumed |= {event: time_of(event) for event in [*w[EVENTS], *x[EVENTS]]}
        pair = merged((w, x), x[LAST])
        state[MADE].append([w[FIRST] + self.within if self.final else known, pair])
        return True

    def _pass_frames(self, state: State, before: int, room: Room) -> None:
        """The frames that end before a time pass, in order: what was remembered becomes an instance."""
        passed = []
        for side, queue in enumerate(state[WAITING]):
            found = [w for w in queue if w[INSTANCE][FIRST] + self.within < before]
            if found:
                passed += [(w[INSTANCE][FIRST] + self.within, order(w[INSTANCE]), side, w) for w in found]
                queue[:] = [w for w in queue if w[INSTANCE][FIRST] + self.within >= before]
        passed.sort(key=lambda one: one[:3])
        for place, (frame_end, _, side, w) in enumerate(passed):
            if w[REMEMBERED] is not None and self._make(state, w, w[REMEMBERED], frame_end) and self.reports:
                others = [*state[WAITING][1 - side], *(one for _, _, at, one in passed[place + 1 :] if at != side)]
                for other in others:
                    other[PAIRED] |= order(other[INSTANCE]) == order(w[REMEMBERED])
            if self.reports and not (w[PAIRED] or (state[CONSUMED] and shares(w[INSTANCE], state[CONSUMED]))):
                room.expire(w[INSTANCE], frame_end, self.lag, self.operands[1 - side])

    def _known(self, state: State, until: int) -> list[Instance]:
        made = state[MADE]
        if not self.own_lag:
            state[MADE] = []
            return once([one for _, one in made])
        if not self.is_root:
            state[MADE] = [one for one in made if one[1][LAST] > until - self.own_lag]
            return once([one for _, one in made if one[LAST] <= until - self.own_lag])
        state[MADE] = [one for one in made if one[0] > until]
        passed = sorted((one for one in made if one[0] <= until), key=lambda one: one[0])  # stable
        known = []
        for time, one in passed:
            identity = [one[LAST], one[EVENTS]]
            if identity not in state[REPORTED]:
                known.append([*one, time])
                state[REPORTED].append(identity)
        known.sort(key=order)
        return known

    def _forget_consumed(self, state: State) -> None:
        for queue in state[WAITING]:
            queue[:] = [w for w in queue if not shares(w[INSTANCE], state[CONSUMED])]

    def _forget(self, state: State, now: int) -> None:
        """All that can no longer matter to what arrives from now on."""
        if state[CONSUMED]:
            self._forget_consumed(state)
        waiting, between = state[WAITING], state[BETWEEN]
        for queue in waiting:
            queue[:] = [w for w in queue if w[INSTANCE][FIRST] + self.within >= now]
        between[:] = [r for r in between if waiting[0] and waiting[0][0][INSTANCE][LAST] < r[FIRST]]

    def _drop(self, waiting: Any, room: Room) -> None:
        """The first in order goes where too many wait; of equals, the left one."""
        while len(waiting[0]) + len(waiting[1]) > room.most:  # by more than one where there was more room before
            left, right = waiting
            side = 0 if left and (not right or order(left[0][INSTANCE]) <= order(right[0][INSTANCE])) else 1
            del waiting[side][0]
            room.dropped += 1

    def due(self, state: State) -> Due:
        gives = [one[LAST] for _, one in state[INBOX]]
        for time, one in state[MADE]:
            gives.append(time if self.is_root else one[LAST] + self.own_lag)
        empty = []
        for side, queue in enumerate(state[WAITING]):
            if self.select[1 - side] == "last":
                gives += [w[INSTANCE][FIRST] + self.within for w in queue if w[REMEMBERED] is not None]
            if self.reports:
                gives += [w[INSTANCE][FIRST] + self.within for w in queue if not w[PAIRED]]
            if queue:
                empty.append(queue[-1][INSTANCE][LAST] + self.within)
        if state[CONSUMED]:
            empty.append(max(state[CONSUMED].values()) + 2 * self.within)
        empty += [one[LAST] + self.own_lag for one in state[REPORTED]]
        return Due(min(gives, default=None), max(empty, default=None))
