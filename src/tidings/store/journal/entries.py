"""What is asked of the journal (drafts), what it answers (outcomes), and what stands in it (entries).

Publishers, subscribers and ingest queries make drafts; `Store.append` decides on them in order and answers each
with an outcome. All of them are frozen, so that they can travel between processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal, NamedTuple

from tidings.errors import TidingsError
from tidings.events import BrokenRule, Event
from tidings.schema import Instant
from tidings.schema.growth import Change
from tidings.schema.values import Value

if TYPE_CHECKING:
    from tidings.store.deliveries.channels import StoredChannel

Kind = Literal[
    "schema", "subscribe", "withdraw", "pause", "resume", "edit", "name", "expire", "quota", "profile", "event", "past",
    "tick",
]  # fmt: skip
State = Literal["active", "paused"]


@dataclass(frozen=True, slots=True)
class Publish:
    """A raw event (parsed JSON), validated at its place in the journal."""

    raw: object


@dataclass(frozen=True, slots=True)
class PublishValid:
    """An event found valid under this journal's catalog, at this version or an earlier one: growth keeps it so."""

    event: Event


@dataclass(frozen=True, slots=True)
class PublishPast:
    """A valid event that another server matched: kept for the notifications that came from there, matched by nobody."""

    event: Event


@dataclass(frozen=True, slots=True)
class Grow:
    """One change, and `more` after it: all of them or none."""

    change: Change
    more: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A filter or a composite, not both. The text is bound at its place in the journal, and its canonical text is kept;
    `bound`: it is a canonical text already, of this journal's catalog at this version or an earlier one, and growth
    keeps what it means. The channel is stored in the same transaction. `most` is how many subscriptions the owner may
    have. `name` and `note` are for people."""

    id: str
    filter: str = ""
    owner: str = ""
    expiry: Instant | None = None
    delivery: str = ""
    channel: StoredChannel | None = None
    most: int | None = None
    name: str = ""
    note: str = ""
    composite: str = ""
    bound: bool = False


@dataclass(frozen=True, slots=True)
class Withdraw:
    id: str


@dataclass(frozen=True, slots=True)
class Pause:
    id: str


@dataclass(frozen=True, slots=True)
class Resume:
    id: str


class Keep(Enum):
    """What an edit leaves as it is; None could not say so, for it takes an expiry away."""

    KEEP = "keep"


KEEP = Keep.KEEP


@dataclass(frozen=True, slots=True)
class Edit:
    """Another filter or composite, expiry, delivery, state, channel, name or note under the same id; at least one of
    them. All of it happens in one transaction, or nothing. A filter may become a composite, and the reverse. A state
    that it has already is no error. Without a channel (None) it is only read. A name or note has an entry of its own,
    which the planner does not see. `bound` is that of `Subscribe`."""

    id: str
    filter: str | None = None
    expiry: Instant | Keep | None = KEEP
    delivery: str | Keep = KEEP
    state: State | Keep = KEEP
    channel: StoredChannel | Keep | None = KEEP
    name: str | Keep = KEEP
    note: str | Keep = KEEP
    composite: str | None = None
    bound: bool = False


@dataclass(frozen=True, slots=True)
class SetQuota:
    """How many matches an account may have per minute, from here on; 0: any number. Without an account: all those that
    have no quota of their own."""

    matches_per_minute: int
    account: str = ""


@dataclass(frozen=True, slots=True)
class SetProfile:
    """Options that composites may inherit from here on with `using NAME`; '' removes the profile."""

    name: str
    options: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Time goes on though nothing happens: composites notice the silence."""


Draft = (
    Publish
    | PublishValid
    | PublishPast
    | Grow
    | Subscribe
    | Withdraw
    | Pause
    | Resume
    | Edit
    | SetQuota
    | SetProfile
    | Tick
)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The position of its entry, the last where it has several; of an edit for which the journal has none, its tail."""

    position: int
    accepted: Instant


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An event of this source and id was accepted before, at this position."""

    position: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was changed; the error says why."""

    error: TidingsError


Outcome = Accepted | Duplicate | Refused


@dataclass(frozen=True, slots=True)
class Entry:
    """One place in the journal. `body` is JSON: a raw event, a schema change, or a subscription's members.

    `schema_version` is the catalog's at this place; of a schema change, the one that it makes.
    """

    position: int
    accepted: Instant
    kind: str
    schema_version: int
    body: str


@dataclass(frozen=True, slots=True)
class Span:
    """The positions [start, stop) at which a subscription counts with this filter, or composite; no stop: until further
    notice."""

    subscription: str
    start: int
    stop: int | None
    filter: str
    owner: str = ""
    composite: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A subscription as it stands now. `since` is where it was posted, `span` where its open span starts. `name` and
    `note` are what its owner calls it, '' where nothing was given; several may have the same name. The text of a
    composite is in `filter`."""

    id: str
    owner: str
    filter: str
    state: State
    expiry: Instant | None
    delivery: str
    since: int
    span: int | None
    name: str = ""
    note: str = ""
    composite: bool = False


@dataclass(frozen=True, slots=True)
class Notification:
    """A match that was found: the event at `position` and a subscription. Cursors are dense from 1. `detection` is the
    id of what a composite found, '' of a plain match: its event is the last constituent; without one, no event stands
    at the position."""

    cursor: int
    position: int
    subscription: str
    stored: Instant
    detection: str = ""


class Constituent(NamedTuple):
    """An event of a detection; its position is None where the journal never had it, as of a time event."""

    time: int  # microseconds
    source: str
    id: str
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Detection:
    """What a composite found: the values of its `by`, the constituents in the order of time, and its last time.
    `expired`: of a partial match, the part that it waited for in vain until that time; '' where it is complete."""

    key: tuple[Value, ...]
    time: Instant
    events: tuple[Constituent, ...]
    expired: str = ""

    def as_json(self) -> dict[str, object]:
        events = [{"source": one.source, "id": one.id, "time": str(Instant(one.time))} for one in self.events]
        found: dict[str, object] = {"key": list(self.key), "time": str(self.time), "events": events}
        return {**found, "expired": self.expired} if self.expired else found


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event from a file or a stream that was refused: where it came from, at which place there, and why."""

    origin: str
    place: str
    id: str | None
    raw: str
    errors: tuple[BrokenRule, ...]


@dataclass(frozen=True, slots=True)
class StoredLetter:
    number: int
    stored: Instant
    letter: DeadLetter
