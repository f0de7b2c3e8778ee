"""What survives a crash, as one value, and the changes that a driver stores. Each change is one transaction."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from tidings.overlay.values import NO_RULE, Event, Filter, Gap, Key, Order, Rule, Stamp, StrikeOff, Succeed

MOST_GAPS = 1_000  # that are reported; the oldest go


@dataclass(slots=True)
class Journal:
    """The events of a server: those that it accepted, by position, and those that it took from others."""

    keys: set[Key] = field(default_factory=set)
    own: list[Event] = field(default_factory=list)
    taken: dict[str, list[Stamp]] = field(default_factory=dict)  # by origin, sorted
    entries: list[Event] = field(default_factory=list)  # in the order of the journal
    position: int = 0  # of the last own event
    forgotten: int = 0  # own events through this position are gone

    def copy(self) -> Journal:
        taken = {origin: list(stamps) for origin, stamps in self.taken.items()}
        return replace(self, keys=set(self.keys), own=list(self.own), taken=taken, entries=list(self.entries))

    def accept(self, event: Event) -> None:
        self.own.append(event)
        self.position = event.stamp.position
        self._append(event)

    def take(self, event: Event) -> None:
        insort(self.taken.setdefault(event.origin, []), event.stamp)
        self._append(event)

    def _append(self, event: Event) -> None:
        assert event.key not in self.keys, f"{event.key} is journaled twice"
        self.keys.add(event.key)
        self.entries.append(event)

    def known(self, keys: Iterable[Key]) -> set[Key]:
        """Those that were journaled. May miss some where the store refuses repetitions itself."""
        return self.keys.intersection(keys)

    def taken_after(self, origin: str, mark: Stamp, most: int) -> list[Stamp]:
        """The first places of an origin's history after the mark whose events are here."""
        stamps = self.taken.get(origin, [])
        start = bisect_right(stamps, mark)
        return stamps[start : start + most]

    def own_between(self, after: int, through: int) -> Iterator[Event]:
        """Own events in (after, through] that are kept. Positions are dense: each is one more than the last."""
        first = self.own[0].stamp.position if self.own else 1
        start = max(after + 1 - first, 0)
        return iter(self.own[start : max(through + 1 - first, start)])

    def forget(self, position: int) -> None:
        self.own = [event for event in self.own if event.stamp.position > position]
        self.forgotten = max(self.forgotten, position)


@dataclass(frozen=True, slots=True)
class Incarnation:
    number: int
    began: int  # after this position


@dataclass(slots=True)
class Durable:
    journal: Journal = field(default_factory=Journal)
    incarnations: list[Incarnation] = field(default_factory=list)
    marks: dict[str, Stamp] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    subscriptions: dict[str, Filter] = field(default_factory=dict)
    advertisements: dict[str, Filter] = field(default_factory=dict)
    orders: list[tuple[str, Order]] = field(default_factory=list)  # with the ids of the requests
    rule: Rule = NO_RULE
    restored: bool = False

    def copy(self) -> Durable:
        """What a change of this one does not reach."""
        return Durable(
            self.journal.copy(),
            list(self.incarnations),
            dict(self.marks),
            list(self.gaps),
            dict(self.subscriptions),
            dict(self.advertisements),
            list(self.orders),
            self.rule,
            self.restored,
        )

    def count_of(self, mark: Stamp) -> int:
        """How far a mark or head of this server reaches: at most to where any later incarnation began."""
        later = (one.began for one in self.incarnations if one.number > mark.incarnation)
        return min(mark.position, *later, mark.position)


@dataclass(frozen=True, slots=True)
class Began:
    incarnation: int
    restored: bool


@dataclass(frozen=True, slots=True)
class Renumbered:
    incarnation: int


@dataclass(frozen=True, slots=True)
class Accepted:
    event: Event


@dataclass(frozen=True, slots=True)
class Journaled:
    """Events of others, and how far this server then has all it wants of one origin."""

    events: tuple[Event, ...]
    origin: str = ""
    mark: Stamp | None = None
    gap: Gap | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    marks: tuple[tuple[str, Stamp], ...]


@dataclass(frozen=True, slots=True)
class Subscribed:
    subscription: str
    filter: Filter


@dataclass(frozen=True, slots=True)
class Arrived:
    """A subscription moved in. The driver makes notifications of the cargo, and of the events that were missed."""

    subscription: str
    filter: Filter
    marks: tuple[tuple[str, Stamp], ...]  # lowered
    cargo: Hashable
    missed: tuple[Event, ...]  # of this server's journal, after the old server's marks
    giver: str = ""
    given: tuple[tuple[str, Stamp], ...] = ()  # marks, as the old server had them


@dataclass(frozen=True, slots=True)
class Unsubscribed:
    subscription: str


@dataclass(frozen=True, slots=True)
class Advertised:
    advertisement: str
    filter: Filter


@dataclass(frozen=True, slots=True)
class Withdrawn:
    advertisement: str


@dataclass(frozen=True, slots=True)
class Ordered:
    orders: tuple[tuple[str, Order], ...]


@dataclass(frozen=True, slots=True)
class Ruled:
    rule: Rule


@dataclass(frozen=True, slots=True)
class Forgotten:
    position: int


Change: TypeAlias = (
    Began
    | Renumbered
    | Accepted
    | Journaled
    | Marked
    | Subscribed
    | Arrived
    | Unsubscribed
    | Advertised
    | Withdrawn
    | Ordered
    | Ruled
    | Forgotten
)


def apply(durable: Durable, change: Change) -> None:
    """Carries out one change: on the machine's view of what is stored, and on the store."""
    match change:
        case Began(incarnation, restored):
            durable.incarnations.append(Incarnation(incarnation, durable.journal.position))
            durable.restored = durable.restored or restored
        case Renumbered(incarnation):
            durable.incarnations[-1] = Incarnation(incarnation, durable.incarnations[-1].began)
            durable.restored = True
        case Accepted(event):
            durable.journal.accept(event)
        case Journaled(events, origin, mark, gap):
            for event in events:
                durable.journal.take(event)
            if mark is not None:
                durable.marks[origin] = mark
            if gap is not None:
                durable.gaps = [*durable.gaps[1 - MOST_GAPS :], gap]
        case Marked(marks):
            durable.marks.update(marks)
        case Subscribed(subscription, filter):
            durable.subscriptions[subscription] = filter
        case Arrived(subscription, filter, marks):
            durable.subscriptions[subscription] = filter
            durable.marks.update(marks)
        case Unsubscribed(subscription):
            durable.subscriptions.pop(subscription, None)
        case Advertised(advertisement, filter):
            durable.advertisements[advertisement] = filter
        case Withdrawn(advertisement):
            durable.advertisements.pop(advertisement, None)
        case Ordered(orders):
            durable.orders.extend(orders)
            for _, order in orders:
                if isinstance(order, StrikeOff):
                    durable.marks.pop(order.server, None)
            rules = [Rule(order.term, order.home) for _, order in orders if isinstance(order, Succeed)]
            durable.rule = max([durable.rule, *rules])
        case Ruled(rule):
            durable.rule = rule
        case Forgotten(position):
            durable.journal.forget(position)
        case _:
            assert_never(change)
