"""What a server receives (from neighbours, clients and its clock) and what it answers to its own clients."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tidings.overlay.filters import Filters
from tidings.overlay.values import Event, Filter, Gap, Interest, LinkState, Order, Rule, Stamp, Version

# Between neighbours ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heartbeat:
    version: Version
    sent: float  # by the sender's clock
    known: Mapping[str, Version]  # link states
    heads: Mapping[str, Stamp]
    holds: Version  # the interest held from the receiver
    rule: Rule
    schema: int  # how many orders the sender has
    digest: str  # of these orders


@dataclass(frozen=True, slots=True)
class HeartbeatAnswer:
    version: Version
    sent: float
    schema: int  # how many orders the answerer has
    conflict: bool = False  # the answerer's orders are not the sender's


@dataclass(frozen=True, slots=True)
class LinkStates:
    states: tuple[tuple[str, LinkState], ...]


@dataclass(frozen=True, slots=True)
class Posted:
    interest: Interest


@dataclass(frozen=True, slots=True)
class Events:
    version: Version  # of the last of them
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    version: Version


@dataclass(frozen=True, slots=True)
class Orders:
    """The orders from `start` on."""

    start: int
    digest: str  # of the orders before
    orders: tuple[tuple[str, Order], ...]  # with the ids of the requests


# Along the tree, from any server to any other ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ask:
    asker: str
    life: Version  # the asker's incarnation, and how many subscriptions had moved in
    filters: tuple[Filter, ...]
    mark: Stamp
    head: Stamp
    has: frozenset[Stamp]
    schema: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    origin: str
    life: Version
    events: tuple[Event, ...]
    mark: Stamp  # where the asker's may move to
    gap: Gap | None
    schema: int = 0


@dataclass(frozen=True, slots=True)
class OrderRequest:
    requester: str
    request: str
    order: Order


@dataclass(frozen=True, slots=True)
class OrderAnswer:
    request: str
    version: int
    refused: str = ""  # why the home did not order it


@dataclass(frozen=True, slots=True)
class MoveIn:
    giver: str
    version: Version
    subscription: str
    filter: Filter
    marks: tuple[tuple[str, Stamp], ...]
    cargo: Hashable  # notifications and waiting instances: the driver's matter
    schema: int = 0


@dataclass(frozen=True, slots=True)
class MovedIn:
    subscription: str
    version: Version  # of the offer


@dataclass(frozen=True, slots=True)
class MoveRefused:
    """The new server's driver does not take the subscription."""

    subscription: str
    reason: str


@dataclass(frozen=True, slots=True)
class Luggage:
    """Old notifications of a subscription that will be offered: those after one cursor of the old server's up to
    another. The driver's matter alone."""

    giver: str
    subscription: str
    after: int
    upto: int
    cargo: bytes
    schema: int = 0


@dataclass(frozen=True, slots=True)
class Stowed:
    """The new server has luggage up to this cursor, or takes none."""

    subscription: str
    upto: int
    refused: str = ""  # why


@dataclass(frozen=True, slots=True)
class Search:
    """Which of your own events match? The newest, at most so many."""

    asker: str
    name: str
    filter: Filter
    most: int
    schema: int = 0


@dataclass(frozen=True, slots=True)
class Searched:
    name: str
    server: str
    events: tuple[Event, ...]
    all: bool  # whether there are no others


Body: TypeAlias = (
    Ask | Answer | OrderRequest | OrderAnswer | MoveIn | MovedIn | MoveRefused | Luggage | Stowed | Search | Searched
)


@dataclass(frozen=True, slots=True)
class Routed:
    to: str
    hops: int  # that are left
    body: Body


@dataclass(frozen=True, slots=True)
class Probe:
    """Does everybody behind you hold what follows from this interest of mine?"""

    name: str
    version: Version  # of the interest that the receiver should hold


@dataclass(frozen=True, slots=True)
class Probed:
    name: str


Message: TypeAlias = (
    Heartbeat | HeartbeatAnswer | LinkStates | Posted | Events | Taken | Orders | Routed | Probe | Probed
)


@dataclass(frozen=True, slots=True)
class From:
    neighbour: str
    message: Message


# From the clock and from clients ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tick:
    """Do what is due; the driver sends one at least each second."""


@dataclass(frozen=True, slots=True)
class Join:
    neighbour: str
    weight: float | None = None  # None: as measured


@dataclass(frozen=True, slots=True)
class Part:
    neighbour: str


@dataclass(frozen=True, slots=True)
class Subscribe:
    subscription: str
    filter: Filter


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    subscription: str


@dataclass(frozen=True, slots=True)
class Advertise:
    advertisement: str
    filter: Filter


@dataclass(frozen=True, slots=True)
class Withdraw:
    advertisement: str


@dataclass(frozen=True, slots=True)
class Publish:
    source: str
    id: str
    content: object


@dataclass(frozen=True, slots=True)
class Follow:
    """Own events that the driver's journal accepted, in order; they are stored already."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Adopt:
    """The schema has grown: filters are bound anew."""

    filters: Filters


@dataclass(frozen=True, slots=True)
class Settle:
    """Tell when all servers in reach hold an interest that covers the subscriptions of now."""

    name: str


@dataclass(frozen=True, slots=True)
class Query:
    """Ask all servers in reach for events that they accepted; each answer is told as it comes."""

    name: str
    filter: Filter
    most: int


@dataclass(frozen=True, slots=True)
class Forget:
    """Own events through this position are no longer kept."""

    position: int


@dataclass(frozen=True, slots=True)
class Request:
    """Ask the home for an order; the id makes a repetition harmless."""

    request: str
    order: Order


@dataclass(frozen=True, slots=True)
class TakeHome:
    """The operator: the home is lost, this server has the longest schema."""


@dataclass(frozen=True, slots=True)
class Move:
    """A driver whose journal and marks are stored elsewhere gives the filter and the marks that belong to the cargo."""

    subscription: str
    to: str
    cargo: Hashable = None
    filter: Filter | None = None
    marks: tuple[tuple[str, Stamp], ...] | None = None


Command: TypeAlias = (
    Tick
    | Join
    | Part
    | Subscribe
    | Unsubscribe
    | Advertise
    | Withdraw
    | Publish
    | Follow
    | Adopt
    | Settle
    | Query
    | Forget
    | Request
    | TakeHome
    | Move
)

# To clients and operators -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refused:
    command: Command
    reason: str


@dataclass(frozen=True, slots=True)
class Granted:
    """The order stands, as the one that made the schema's version this."""

    request: str
    version: int


@dataclass(frozen=True, slots=True)
class Departed:
    subscription: str


@dataclass(frozen=True, slots=True)
class Left:
    """The server takes no further part in the network."""

    reason: str


@dataclass(frozen=True, slots=True)
class Settled:
    name: str


@dataclass(frozen=True, slots=True)
class Found:
    """What one server answered to a query."""

    name: str
    server: str
    events: tuple[Event, ...]
    all: bool


Told: TypeAlias = Refused | Granted | Departed | Left | Settled | Found | Luggage | Stowed
