"""The values of a network of servers. All are immutable and travel between servers as they are."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Filter: TypeAlias = Hashable  # what it means is up to `filters.Filters`
Distribution: TypeAlias = Literal["events", "subscriptions", "advertisements"]
Key: TypeAlias = tuple[str, str]  # source and id of an event


class Stamp(NamedTuple):
    """A place in a server's history: a head, a mark, or the place of one event."""

    incarnation: int
    position: int


BEGINNING = Stamp(0, 0)


class Version(NamedTuple):
    """Numbers what a server says: a later incarnation is newer, whatever the number."""

    incarnation: int
    number: int


UNHEARD = Version(0, 0)


@dataclass(frozen=True, slots=True)
class Event:
    source: str
    id: str
    content: object
    origin: str  # the server that accepted it
    stamp: Stamp  # where in the origin's history
    schema: int = 0  # the version that it was validated by

    @property
    def key(self) -> Key:
        return self.source, self.id


@dataclass(frozen=True, slots=True)
class LinkState:
    """The live links of a server, by neighbour, with their weights."""

    identity: str
    version: Version
    weights: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Interest:
    """What a neighbour wants to be sent, and what is published behind it. It replaces the last one whole."""

    version: Version
    filters: tuple[Filter, ...]
    advertisements: tuple[Filter, ...]
    schema: int = 0


@dataclass(frozen=True, slots=True)
class Gap:
    """Own events of the origin in (after, through] that it no longer keeps."""

    origin: str
    after: int
    through: int


@dataclass(frozen=True, slots=True)
class Growth:
    """A change of the schema; the room knows no more of it."""

    change: Hashable


@dataclass(frozen=True, slots=True)
class Distribute:
    distribution: Distribution


@dataclass(frozen=True, slots=True)
class Succeed:
    """Another server becomes the home, under a term that the present one chooses."""

    home: str
    term: int = 0


@dataclass(frozen=True, slots=True)
class StrikeOff:
    server: str


Order: TypeAlias = Growth | Distribute | Succeed | StrikeOff


class Rule(NamedTuple):
    """Who orders. The higher term holds."""

    term: int
    home: str


NO_RULE = Rule(0, "")


@dataclass(frozen=True, slots=True)
class Timing:
    """In seconds. The defaults are those of the specification."""

    heartbeat: float = 1.0
    most_unanswered: int = 5
    revival: float = 10.0  # of answers, before a link is called alive
    longest_revival: float = 60.0
    deaths_count: float = 3600.0  # a death doubles the revival for so long
    steady_weight: float = 60.0  # in another step, before a weight changes
    after_change: float = 2.0  # of the tree, before asking
    ask_again: float = 30.0
    resend: float = 1.0


@dataclass(frozen=True, slots=True)
class Limits:
    servers: int = 2000  # of one network
    listed: int = 100_000  # links of all servers together, each end by itself
    filters: int = 1000  # in one interest
    batch: int = 1000  # events in one message, or orders
    bytes: int = 2 << 20  # of what is in one message, if that is more than one event or order
    has: int = 10_000  # stamps named in one question; beyond, it asks for less
    scanned: int = 50_000  # own events that are looked at for one answer
    queued: int = 200_000  # events that wait for a neighbour; later ones it fetches from their origins by itself
    queued_bytes: int = 256 << 20
    passed: int = 20_000  # events remembered as passed on
    hops: int = 1000  # of a message that is routed
    renumberings: int = 5  # within a minute: more mean a twin
    ahead: int = 100 * 366 * 86_400_000  # ms: an incarnation further ahead of the clock is not believed
    terms: int = 1_000  # nor a home that many terms after the last
