"""The state of one server: what is durable, and what is rebuilt after a start."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from math import inf

from tidings.overlay.durable import Change, Durable, apply
from tidings.overlay.filters import Filters, Selector
from tidings.overlay.messages import Body, Left, Message, MoveIn, Request, Routed, Told
from tidings.overlay.tree import Link
from tidings.overlay.values import (
    Distribution,
    Event,
    Filter,
    Interest,
    Limits,
    LinkState,
    Order,
    Stamp,
    Timing,
    Version,
)


@dataclass(slots=True)
class Outcome:
    """A driver stores the changes in order, each in one transaction; then it sends, then it tells."""

    changes: list[Change] = field(default_factory=list)
    sends: list[tuple[str, Message]] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)


@dataclass(slots=True)
class LinkLife:
    """One end of a link."""

    fixed: bool = False  # the weight is configured
    weight: float = 1.0
    other_weight: float = 1.0  # in whose step measurements are now,
    other_since: float = 0.0  # and since when
    unanswered: int = 0
    answered: float = -inf  # when the last heartbeat that was answered was sent
    answering_since: float | None = None
    alive: bool = False
    conflict: bool = False  # the neighbour's orders are not ours
    level: bool = False  # since this server started: the neighbour has no orders that this server lacks
    deaths: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Queue:
    """Events that wait for a neighbour; the first of them are under way until they are acknowledged."""

    waiting: deque[tuple[int, Event, float]] = field(default_factory=deque)  # its number, and since when it waits
    sent: int = 0  # through this number
    sent_at: float = 0.0
    bytes: int = 0  # of what waits


@dataclass(slots=True)
class Server:
    name: str
    identity: str
    filters: Filters
    durable: Durable
    timing: Timing
    limits: Limits
    now: float
    left: str = ""  # why, once it has
    next_beat: float = -inf
    number: int = 0  # of the last link state, interest or event sent
    renumbered: list[float] = field(default_factory=list)

    links: dict[str, LinkLife] = field(default_factory=dict)
    states: dict[str, LinkState] = field(default_factory=dict)
    known: dict[str, Version] | None = None  # versions of the states; None: to be gathered
    heads: dict[str, Stamp] = field(default_factory=dict)
    tree: frozenset[Link] = frozenset()
    hops: dict[str, str] = field(default_factory=dict)
    neighbours: tuple[str, ...] = ()  # in the tree
    tree_changes: int = 0
    tree_changed_at: float = 0.0
    stale_tree: bool = False

    held: dict[str, Interest] = field(default_factory=dict)
    selectors: dict[str, Selector] = field(default_factory=dict)  # of what is held
    wanted: tuple[Filter, ...] = ()  # by own subscriptions
    wants: Selector = lambda _content: False
    posted: dict[str, Interest] = field(default_factory=dict)
    stale_interests: bool = False
    stale_own: bool = False  # what is wanted is to be gathered anew

    queues: dict[str, Queue] = field(default_factory=dict)
    passed: dict[tuple[str, Stamp], None] = field(default_factory=dict)
    behind: dict[str, float] = field(default_factory=dict)  # origins, and when to ask them
    moved_in: int = 0
    requests: dict[str, tuple[Request, float]] = field(default_factory=dict)
    promised: dict[str, tuple[str, int]] = field(default_factory=dict)  # requesters of orders not yet stored elsewhere
    moving: dict[str, tuple[str, MoveIn, float]] = field(default_factory=dict)  # where to, the offer, when it went
    asked: dict[str, Stamp] = field(default_factory=dict)  # the head of each origin when it was last asked
    own: set[Filter] | None = None  # that were reduced to what is wanted
    settling: dict[str, float] = field(default_factory=dict)  # who waits, and when the last probe went
    probes: dict[tuple[str, str], tuple[set[str], float]] = field(default_factory=dict)  # asker, name: who is to answer
    size_of: Callable[[object], int] = lambda _content: 0  # bytes of an event's content
    size_of_order: Callable[[Order], int] = lambda _order: 0
    refuses: Callable[[Order], str] = lambda _order: ""  # at the home: why an order cannot be
    arrived: dict[tuple[str, str], Version] = field(default_factory=dict)  # offers taken, by giver and subscription
    distribution: Distribution = "subscriptions"
    struck_off: set[str] = field(default_factory=set)
    stored_elsewhere: int = 0  # so many orders
    digests: list[str] = field(default_factory=lambda: [""])  # of the orders, by version

    output: Outcome = field(default_factory=Outcome)

    @property
    def incarnation(self) -> int:
        return self.durable.incarnations[-1].number

    @property
    def schema(self) -> int:
        """The version: how many orders there are."""
        return len(self.durable.orders)

    @property
    def life(self) -> Version:
        """Answers to another life are ignored."""
        return Version(self.incarnation, self.moved_in)

    @property
    def latest(self) -> int:
        """The last incarnation that is believed. Whoever is told a later one could not go above it in its lifetime;
        below it, even clocks that were never set are far enough, and a server goes above what it hears of itself."""
        return int(self.now * 1000) + self.limits.ahead

    def has_room_for(self, name: str, known: Collection[str]) -> bool:
        """Whether a server may be remembered: names that somebody made up must not fill the memory of all."""
        return name in known or len(known) < self.limits.servers

    def next_version(self) -> Version:
        self.number += 1
        return Version(self.incarnation, self.number)

    def write(self, change: Change) -> None:
        apply(self.durable, change)
        self.output.changes.append(change)

    def send(self, neighbour: str, message: Message) -> None:
        self.output.sends.append((neighbour, message))

    def tell(self, answer: Told) -> None:
        self.output.told.append(answer)

    def leave(self, reason: str) -> None:
        self.left = reason
        self.tell(Left(reason))

    def route(self, to: str, body: Body, hops: int | None = None) -> None:
        """Along the tree; where it does not lead there, the message is lost and asked for again."""
        left = self.limits.hops if hops is None else hops
        if left > 0 and to in self.hops:
            self.send(self.hops[to], Routed(to, left, body))

    def outcome(self) -> Outcome:
        outcome, self.output = self.output, Outcome()
        return outcome
