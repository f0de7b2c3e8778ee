"""Bodies of requests and answers about a network of servers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from tidings.service.api.shapes import Shape
from tidings.service.gateway import Gateway
from tidings.service.network import Network
from tidings.service.network_errors import NoNetwork

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9.-]+$")]
Url = Annotated[str, msgspec.Meta(max_length=1_000, pattern=r'^https?://[^\s<>"]+$')]
Secret = Annotated[str, msgspec.Meta(min_length=20, max_length=200)]
_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Pair = Annotated[list[str], msgspec.Meta(min_length=2, max_length=2)]


class ServerSeen(Shape, frozen=True):
    """`head` is the position of its last own event, `mark` up to where this server has what it asked of it."""

    name: str
    reached: bool
    head: int
    mark: int
    level: bool


class LinkState(Shape, frozen=True):
    """Of `waiting` events the oldest waits for `behind_seconds`. `interest` counts the filters that the neighbour
    wants events for, `posted` those that it was sent. Rates are of messages, over the last ten seconds."""

    name: str
    url: str
    state: str
    in_tree: bool
    weight: float
    waiting: int
    behind_seconds: float
    interest: int
    posted: int
    advertised: int
    events: int
    bytes: int
    sent_per_second: float
    received_per_second: float
    problem: str


class MutualLink(Shape, frozen=True):
    """A link that both of its servers hold to be alive."""

    servers: _Pair
    weight: float


class AccountAdvertisement(Shape, frozen=True):
    id: str
    account: str
    filter: str


class Gap(Shape, frozen=True):
    """Events of a server that it had removed before they arrived here: after a position, through another."""

    origin: str
    after: int
    through: int


class NetworkCounts(Shape, frozen=True):
    """Events of other servers `taken` for subscriptions here, of these `journaled`. Messages of neighbours `refused`,
    `dropped` because their request took too long, and `failed` in a way that nobody foresaw: network.log says how."""

    taken: int
    journaled: int
    refused: int
    dropped: int
    failed: int


class NetworkSeen(Shape, frozen=True):
    """`problem` is why this server has left the network, else empty. `filters` is how many filters its own
    subscriptions need; `schema` how many changes the home has ordered."""

    name: str
    incarnation: int
    problem: str
    home: str
    term: int
    distribution: str
    schema: int
    servers: list[ServerSeen]
    links: list[LinkState]
    tree: list[_Pair]
    mutual: list[MutualLink]
    filters: int
    advertisements: list[AccountAdvertisement]
    gaps: list[Gap]
    counts: NetworkCounts


class Invitation(Shape, frozen=True):
    token: str
    url: str


class NewLink(Shape, frozen=True):
    url: Url
    token: Secret


class LinkSeen(Shape, frozen=True):
    name: str
    url: str
    joined: str


class Links(Shape, frozen=True):
    items: list[LinkSeen]
    next: str | None


class LinkMade(Shape, frozen=True):
    name: str


class LinkRemoved(Shape, frozen=True):
    removed: str


class HomeTaken(Shape, frozen=True):
    home: str


class NewOrder(Shape, frozen=True):
    """`distribute` takes events, subscriptions or advertisements, the others a server's name."""

    kind: Literal["distribute", "succeed", "strike-off"]
    value: Name


class Ordered(Shape, frozen=True):
    ordered: str


class NetworkEvent(Shape, frozen=True):
    """`server` accepted it."""

    server: str
    event: dict[str, Any]


class NetworkEvents(Shape, frozen=True):
    """`missing` are servers that did not answer in time; `complete`: no further event matches."""

    items: list[NetworkEvent]
    missing: list[str]
    complete: bool


class NewAdvertisement(Shape, frozen=True):
    filter: Annotated[str, msgspec.Meta(min_length=1, max_length=10_000)]  # each event is compared with all of them


class AdvertisementMade(Shape, frozen=True):
    id: str
    filter: str


class AdvertisementSeen(Shape, frozen=True):
    """`own`: it is yours."""

    id: str
    filter: str
    own: bool


class Advertisements(Shape, frozen=True):
    items: list[AdvertisementSeen]
    next: str | None


class AdvertisementWithdrawn(Shape, frozen=True):
    withdrawn: str


class Ticket(Shape, frozen=True):
    """`server` is this server's name."""

    ticket: str
    server: str


class NewMove(Shape, frozen=True):
    """All subscriptions of the account, unless some are named."""

    to: Name
    ticket: Secret
    subscriptions: Annotated[list[_Id], msgspec.Meta(max_length=10_000)] | None = None


class MoveStarted(Shape, frozen=True):
    moving: list[str]


class MoveSeen(Shape, frozen=True):
    """`problem`: the new server refused the subscription, which stays here; `waits`: why it was not offered yet."""

    subscription: str
    to: str
    problem: str
    waits: str


class Moves(Shape, frozen=True):
    items: list[MoveSeen]
    next: str | None


def network_of(gateway: Gateway) -> Network:
    """Raises NoNetwork."""
    if gateway.network is None:
        raise NoNetwork
    return gateway.network
