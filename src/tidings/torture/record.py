"""What the clients did, what they were told and what reached them: all that the verdict is made from.

Everything is noted in one event loop, so a counter, `tick`, orders it: what was answered before something else was
asked for is before it in the journal, too. Nobody else's word is taken for anything.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from tidings.torture.numbers import Numbers

Kind = Literal["subscribe", "edit", "pause", "resume", "withdraw"]


@dataclass(slots=True)
class Published:
    """An event. `began` when it was first sent, `ended` when it was acknowledged, both as ticks; `at` is the time of
    that. Without a position nobody knows whether it was accepted."""

    id: str
    n: int
    m: int
    began: int
    ended: int | None = None
    position: int | None = None
    at: float = 0.0


@dataclass(slots=True)
class Change:
    """Of a subscription: how it stands afterwards. Only the first says at which position it was made; of the others
    nothing is known but between which events."""

    kind: Kind
    numbers: Numbers
    active: bool
    began: int
    ended: int | None = None


@dataclass(slots=True)
class Subscribed:
    """`since` is the position at which it was posted, `changes` begin with that."""

    id: str
    owner: str
    channel: Literal["stored", "webhook"]
    since: int
    changes: list[Change]


@dataclass(frozen=True, slots=True)
class Seen:
    """A notification as it was read, in a page or from a stream. `id` is the notification's."""

    id: str
    subscription: str
    event: str
    at: float


@dataclass(frozen=True, slots=True)
class Delivered:
    """A notification as it came to the receiver. `taken`: the receiver said so, by a status of 2xx."""

    id: str
    subscription: str
    event: str
    sequence: int
    at: float
    taken: bool


@dataclass(slots=True)
class Record:
    published: dict[str, Published] = field(default_factory=dict)
    subscribed: dict[str, Subscribed] = field(default_factory=dict)
    stored: dict[str, list[Seen]] = field(default_factory=dict)  # by owner: all of it, read when all was over
    read: dict[str, list[Seen]] = field(default_factory=dict)  # by owner: page after page, meanwhile
    streamed: dict[str, list[Seen]] = field(default_factory=dict)
    delivered: list[Delivered] = field(default_factory=list)
    tried: list[tuple[str, int]] = field(default_factory=list)  # subscription, sequence: also what was not read whole
    pending: int = 0  # subscriptions that were asked for and never answered
    unknown: int = 0  # requests without an answer, which were sent again
    refused: list[str] = field(default_factory=list)  # answers that nobody expected
    unsigned: int = 0  # deliveries whose signature does not fit
    answers: Counter[str] = field(default_factory=Counter)  # what the receiver did to who delivered
    kills: Counter[str] = field(default_factory=Counter)
    restarts: int = 0  # of the service, by us; its children it starts again itself
    tick: int = 0

    def next_tick(self) -> int:
        self.tick += 1
        return self.tick
