"""Who must have been told of what: from the record alone.

A subscription counts from one change to the next. Where exactly in the journal a change stands, its answer does not
say; but it is after everything that was acknowledged before it was asked for, and before everything that was sent
after its answer. Events between are owed or not, as long as one place of the change explains all that was seen.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

from tidings.torture.record import Published, Record, Subscribed

_NOWHERE = 1 << 62  # after every position


@dataclass(frozen=True, slots=True)
class Owing:
    """Of one subscription. `owed` are the ids of events; the rest is where what was seen differs from it."""

    owed: frozenset[str]
    lost: tuple[str, ...]
    phantom: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Path:
    """One way in which the changes may stand between the events so far, and what it does not explain."""

    faults: int = 0
    last: tuple[_Path | None, str, bool, bool] | None = None  # what came before, event, owed, seen

    def then(self, event: str, owed: bool, seen: bool) -> _Path:
        return _Path(self.faults + (owed != seen), (self, event, owed, seen)) if owed or seen else self

    def owing(self) -> Owing:
        owed, lost, phantom = [], [], []
        step = self.last
        while step is not None:
            before, event, is_owed, seen = step
            if is_owed:
                owed.append(event)
            if is_owed and not seen:
                lost.append(event)
            if seen and not is_owed:
                phantom.append(event)
            step = None if before is None else before.last
        return Owing(frozenset(owed), tuple(reversed(lost)), tuple(reversed(phantom)))


class Order:
    """The events of a record in the order of the journal, and where something else may stand among them."""

    def __init__(self, record: Record) -> None:
        known = [one for one in record.published.values() if one.position is not None]
        self.events = sorted(known, key=_position)
        answered = [(one.ended or 0, _position(one)) for one in known]
        answered += [(one.changes[0].ended or 0, one.since) for one in record.subscribed.values()]
        answered.sort()
        self._answered = [tick for tick, _ in answered]
        self._highest = list(accumulate((position for _, position in answered), max))
        asked = sorted((one.began, _position(one)) for one in known)
        self._asked = [tick for tick, _ in asked]
        lowest = list(accumulate((position for _, position in reversed(asked)), min))
        self._lowest = lowest[::-1]

    def before(self, tick: int) -> int:
        """The highest position that was acknowledged before."""
        found = bisect_left(self._answered, tick)
        return self._highest[found - 1] if found else 0

    def after(self, tick: int | None) -> int:
        """The lowest position of what was sent after; without a tick, of nothing."""
        found = len(self._asked) if tick is None else bisect_right(self._asked, tick)
        return self._lowest[found] if found < len(self._lowest) else _NOWHERE


def owing(order: Order, one: Subscribed, seen: Collection[str]) -> Owing:
    """`seen` are the ids of the events for which there is a notification.

    Of all places where the changes may stand, those are taken that leave the least unexplained: `paths` has the best
    way for each number of changes made so far.
    """
    earliest = [order.before(change.began) for change in one.changes]
    latest = [order.after(change.ended) for change in one.changes]
    latest = list(accumulate(reversed(latest), min))[::-1]  # before the next one, also where it was never answered
    earliest[0], latest[0] = one.since, one.since + 1
    filters = {change.numbers for change in one.changes}
    paths = {0: _Path()}
    for event in order.events:
        if event.id not in seen and not any(numbers.holds(event.n, event.m) for numbers in filters):
            continue  # it says nothing
        position = _position(event)
        certain, possible = bisect_right(latest, position), bisect_left(earliest, position)
        reached: dict[int, _Path] = {}
        best: _Path | None = None
        for made in range(min(paths), possible + 1):
            before = paths.get(made)
            if before is not None and (best is None or before.faults < best.faults):
                best = before
            if made >= certain and best is not None:
                reached[made] = best.then(event.id, _counts(one, made, event), event.id in seen)
        paths = reached
    return min(paths.values(), key=lambda path: path.faults).owing()


def _counts(one: Subscribed, made: int, event: Published) -> bool:
    if made == 0:
        return False
    change = one.changes[made - 1]
    return change.active and change.numbers.holds(event.n, event.m)


def _position(one: Published) -> int:
    assert one.position is not None
    return one.position


def strangers(record: Record, seen: Sequence[str]) -> list[str]:
    """Ids of events that nobody published. What was never acknowledged may be there or not."""
    return [event for event in seen if event not in record.published]
