"""The verdict: for each way in which a subscriber is told, what was lost, doubled, made up, repeated, out of order or
late, by the record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidings.torture.owing import Order, Owing, owing, strangers
from tidings.torture.record import Delivered, Record, Seen

LATE = 30.0  # seconds after its event was acknowledged; a Spark that was killed starts for half of that
_EXAMPLES = 20
Match = tuple[str, str]  # event, subscription


@dataclass(slots=True)
class Way:
    """One way of being told. `lost`, `doubled` and `phantom` break a promise, the others do not: what was not known to
    have arrived is sent again under the same id, and a retry holds back nobody."""

    name: str
    owed: int = 0
    arrived: int = 0  # different matches
    lost: list[Match] = field(default_factory=list)
    doubled: list[Match] = field(default_factory=list)
    phantom: list[Match] = field(default_factory=list)
    repeated: int = 0
    disordered: int = 0
    late: int = 0
    seconds: list[float] = field(default_factory=list)  # from acknowledgement to arrival, sorted

    @property
    def holds(self) -> bool:
        return not (self.lost or self.doubled or self.phantom)

    def after(self, part: float) -> float | None:
        """Within so many seconds this part of all had arrived."""
        return self.seconds[min(len(self.seconds) - 1, int(part * len(self.seconds)))] if self.seconds else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`gaps` are sequence numbers that no delivery had, or that two matches had; `left` processes that outlived the
    service; `quiet` whether all work was done in the end."""

    ways: tuple[Way, ...]
    record: Record
    gaps: int
    seconds: float = 0.0
    quiet: bool = True
    left: int = 0

    @property
    def holds(self) -> bool:
        sound = self.quiet and not (self.gaps or self.left or self.record.unsigned)
        return sound and all(way.holds for way in self.ways)

    def as_json(self) -> dict[str, Any]:
        record = self.record
        return {
            "holds": self.holds,
            "seconds": round(self.seconds, 3),
            "ways": {way.name: _way_json(way) for way in self.ways},
            "events": len(record.published),
            "subscriptions": len(record.subscribed),
            "changes": sum(len(one.changes) - 1 for one in record.subscribed.values()),
            "kills": dict(record.kills),
            "restarts": record.restarts,
            "sent_again": record.unknown,
            "unanswered": _unanswered(record),
            "refused": len(record.refused),
            "refusals": record.refused[:_EXAMPLES],
            "sequence_gaps": self.gaps,
            "unsigned": record.unsigned,
            "receiver": dict(record.answers),
            "quiet": self.quiet,
            "left_behind": self.left,
        }


def check(record: Record) -> Verdict:
    order = Order(record)
    stored_by = _by_subscription(one for seen in record.stored.values() for one in seen)
    owings = {
        id: owing(order, one, {seen.event for seen in stored_by.get(id, ())}) for id, one in record.subscribed.items()
    }
    stored = _seen_way(record, "stored", record.stored, owings)
    stored.doubled += _twice(one for seen in record.stored.values() for one in seen)
    stored.repeated = 0
    ways = [stored]
    for name, told in (("read", record.read), ("stream", record.streamed)):
        ways.append(_seen_way(record, name, told, owings))
    webhook, gaps = _webhook_way(record, owings)
    return Verdict((*ways, webhook), record, gaps)


def _seen_way(record: Record, name: str, told: Mapping[str, Sequence[Seen]], owings: Mapping[str, Owing]) -> Way:
    """What was read, or streamed: all subscriptions of the owners who did so, in the order of the store."""
    way = Way(name)
    arrived = [one for seen in told.values() for one in seen]
    wanted = {id: owed for id, owed in owings.items() if record.subscribed[id].owner in told}
    _compare(way, record, wanted, arrived, arrived)
    for owner, seen in told.items():
        places = {one.id: place for place, one in enumerate(record.stored.get(owner, ()))}
        way.disordered += _steps_back(places[one.id] for one in _firsts(seen) if one.id in places)
    if name != "stored":
        _time(way, record, arrived)
    return way


def _webhook_way(record: Record, owings: Mapping[str, Owing]) -> tuple[Way, int]:
    way, gaps = Way("webhook"), 0
    wanted = {id: owed for id, owed in owings.items() if record.subscribed[id].channel == "webhook"}
    _compare(way, record, wanted, record.delivered, [one for one in record.delivered if one.taken])
    for deliveries in _by_subscription(record.delivered).values():
        sequences: dict[int, str] = {}
        for one in deliveries:
            gaps += sequences.setdefault(one.sequence, one.id) != one.id
        gaps += len(set(range(1, max(sequences) + 1)) - sequences.keys())
    tried: dict[str, dict[int, None]] = defaultdict(dict)  # in order, each once: first attempts
    for subscription, sequence in record.tried:
        tried[subscription].setdefault(sequence)
    way.disordered = sum(map(_steps_back, tried.values()))
    _time(way, record, record.delivered)
    return way, gaps


def _compare(
    way: Way,
    record: Record,
    wanted: Mapping[str, Owing],
    arrived: Sequence[Seen] | Sequence[Delivered],
    taken: Sequence[Seen] | Sequence[Delivered],
) -> None:
    """What is owed must have been taken; nothing else may have arrived, and each match under one id alone."""
    way.owed = sum(len(one.owed) for one in wanted.values())
    taken_by, arrived_by = _by_subscription(taken), _by_subscription(arrived)
    for id, one in wanted.items():
        way.lost += [(event, id) for event in sorted(one.owed - {seen.event for seen in taken_by.get(id, ())})]
    for id, some in arrived_by.items():
        ids: dict[str, set[str]] = defaultdict(set)
        for seen in some:
            ids[seen.event].add(seen.id)
        way.arrived += len(ids)
        way.repeated += len(some) - sum(map(len, ids.values()))
        way.doubled += [(event, id) for event, different in ids.items() if len(different) > 1]
        if id in wanted:
            made_up = ids.keys() - wanted[id].owed
            known = [event for event in made_up if event in record.published]
            way.phantom += [(event, id) for event in sorted(known) if record.published[event].position is not None]
            way.phantom += [(event, id) for event in sorted(strangers(record, list(made_up)))]
        elif id in record.subscribed or not record.pending:  # not by this way, or there is no such subscription
            way.phantom += [(event, id) for event in sorted(ids)]


def _twice(seen: Iterable[Seen]) -> list[Match]:
    """In the store there is each match once; under the same id, too."""
    ids: set[str] = set()
    found = []
    for one in seen:
        if one.id in ids:
            found.append((one.event, one.subscription))
        ids.add(one.id)
    return found


def _time(way: Way, record: Record, arrived: Iterable[Seen | Delivered]) -> None:
    for one in _firsts(arrived):
        event = record.published.get(one.event)
        if event is not None and event.position is not None:
            way.seconds.append(max(0.0, one.at - event.at))
    way.seconds.sort()
    way.late = sum(seconds > LATE for seconds in way.seconds)


def _firsts(arrived: Iterable[Any]) -> list[Any]:
    """Each notification once, as it came first."""
    found: dict[str, Any] = {}
    for one in arrived:
        found.setdefault(one.id, one)
    return list(found.values())


def _steps_back(numbers: Iterable[int]) -> int:
    highest, steps = -1, 0
    for number in numbers:
        steps += number < highest
        highest = max(highest, number)
    return steps


def _by_subscription(some: Iterable[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for one in some:
        found[one.subscription].append(one)
    return dict(found)


def _unanswered(record: Record) -> int:
    return record.pending + sum(one.position is None for one in record.published.values())


def _way_json(way: Way) -> dict[str, Any]:
    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 3)

    return {
        "owed": way.owed,
        "arrived": way.arrived,
        "lost": len(way.lost),
        "doubled": len(way.doubled),
        "phantom": len(way.phantom),
        "repeated": way.repeated,
        "out_of_order": way.disordered,
        "late": way.late,
        "p50": rounded(way.after(0.5)),
        "p99": rounded(way.after(0.99)),
        "slowest": rounded(way.after(1.0)),
        "examples": {
            name: [list(match) for match in found[:_EXAMPLES]]
            for name, found in (("lost", way.lost), ("doubled", way.doubled), ("phantom", way.phantom))
            if found
        },
    }
