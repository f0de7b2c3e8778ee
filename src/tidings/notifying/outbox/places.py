"""Limits attempts under way by destination, so that destinations that hang leave room for those that answer.

    may_start ──> begin ──> (hangs?) ──> attempted: how it went ──> end

A destination has one place at first, one more for each answer up to `per_destination`, and one again after an attempt
without an answer. Slow destinations share half of all places. Those that answer have half to themselves, beyond
`at_once` if need be: others may have taken their places before they began to hang.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tidings.notifying.outbox.limits import Limits
from tidings.store import AttemptResult

Trust = Literal["unknown", "quick", "slow"]
_REMEMBERED = 600.0  # seconds after the last attempt for which it is known how a destination answers


@dataclass(slots=True, eq=False)
class Standing:
    """How one destination answers, and how many of its attempts are under way."""

    room: int = 1
    trust: Trust = "unknown"
    running: int = 0
    used: float = 0.0


class Places:
    """Times are seconds of one monotonic clock."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._standings: dict[str, Standing] = {}
        self._running: dict[Trust, int] = {"unknown": 0, "quick": 0, "slow": 0}
        self._begun: dict[object, tuple[str, float]] = {}  # attempts under way, the oldest first

    @property
    def running(self) -> int:
        return sum(self._running.values())

    @property
    def has_any(self) -> bool:
        """Whether at least a destination that answers may start."""
        return self._is_free("quick")

    def may_start(self, destination: str) -> bool:
        there = self.standing(destination)
        return there.running < there.room and self._is_free(there.trust)

    def free(self, destination: str, waiting: int) -> int:
        """How many more may be read for it. Nothing is read ahead for a slow one: it would be stale when sent."""
        there = self.standing(destination)
        ahead = 0 if there.trust == "slow" else self._limits.ahead
        return there.room + ahead - there.running - waiting

    def start(self, destination: str) -> None:
        there = self.standing(destination)
        there.running += 1
        self._running[there.trust] += 1

    def end(self, destination: str, who: object) -> None:
        there = self.standing(destination)
        there.running -= 1
        self._running[there.trust] -= 1
        self._begun.pop(who, None)

    def begin(self, destination: str, who: object, now: float) -> None:
        """An attempt begins; `who` was started and makes one attempt after the other."""
        self._begun.pop(who, None)
        self._begun[who] = (destination, now)

    def look(self, now: float) -> None:
        """Marks destinations that hang as slow."""
        for destination, since in self._begun.values():
            if now - since < self._limits.hanging:
                break
            self._trust(self.standing(destination), "slow")

    def attempted(self, destination: str, result: AttemptResult, now: float) -> None:
        there = self.standing(destination)
        there.used = now
        answered = result.ok or result.status is not None
        if answered:
            there.room = min(there.room + 1, self._limits.per_destination)
        elif result.seconds >= self._limits.hanging:
            there.room = 1
        if result.seconds >= self._limits.hanging:
            self._trust(there, "slow")
        elif answered:
            self._trust(there, "quick")

    def busiest(self, most: int) -> list[tuple[str, int, Trust]]:
        """Destinations with attempts under way: slow ones first, then by the places they take."""
        taken = [(name, one.running, one.trust) for name, one in self._standings.items() if one.running]
        return sorted(taken, key=lambda one: (one[2] != "slow", -one[1], one[0]))[:most]

    def tidy(self, now: float) -> None:
        """Forgets destinations without an attempt for some time."""
        old = [name for name, one in self._standings.items() if not one.running and now - one.used > _REMEMBERED]
        for name in old:
            del self._standings[name]

    def standing(self, destination: str) -> Standing:
        return self._standings.get(destination) or self._standings.setdefault(destination, Standing())

    def _trust(self, there: Standing, trust: Trust) -> None:
        self._running[there.trust] -= there.running
        there.trust = trust
        self._running[trust] += there.running

    def _is_free(self, trust: Trust) -> bool:
        running, most = self.running, self._limits.at_once
        half = most // 2
        if trust == "slow":
            return running < most and self._running["slow"] < half
        return running < most or (trust == "quick" and self._running["quick"] < half and running < most + half)
