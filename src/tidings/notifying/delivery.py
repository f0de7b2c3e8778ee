"""What the outbox hands to a channel, and what it gets back.

owed notifications ──> OutgoingDelivery ──> Channel.send ──> Attempt
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from tidings.notifying.apprise_place import apprise_place
from tidings.schema import Instant
from tidings.store import StoredChannel


def named(subscription: str, name: str) -> dict[str, str]:
    """A subscription as bodies that people may read have it: its id, and its name if it has one."""
    return {"subscription": subscription} | ({"subscription_name": name} if name else {})


@dataclass(frozen=True, slots=True)
class Owed:
    """One notification to send. `sequence` counts a subscription's notifications from 1."""

    id: str
    sequence: int
    event: Mapping[str, Any]  # in the file form
    matched_at: Instant
    headline: str = ""  # the attribute that the event's type declares, where the event has it
    detection: Mapping[str, Any] | None = None  # what a composite found; the event is its last one

    def as_json(self, subscription: str, filter: str, name: str = "") -> dict[str, Any]:
        return {
            "id": self.id,
            **named(subscription, name),
            "sequence": self.sequence,
            "filter": filter,
            "matched_at": str(self.matched_at),
            "event": self.event,
            **({} if self.detection is None else {"detection": self.detection}),
        }


@dataclass(frozen=True, slots=True)
class OutgoingDelivery:
    """What one attempt sends. Its id stays the same in every attempt; `test` marks one that a user asked for."""

    id: str
    subscription: str
    owner: str
    filter: str
    owed: tuple[Owed, ...]
    test: bool = False
    name: str = ""  # of the subscription

    @property
    def is_digest(self) -> bool:
        return len(self.owed) > 1


@dataclass(frozen=True, slots=True)
class Attempt:
    """The outcome of one attempt. `gone`: the receiver wants nothing more."""

    ok: bool
    seconds: float
    request: str  # method, address and headers, without what is secret
    status: int | None = None
    response: str = ""  # its beginning
    problem: str = ""
    retry_after: float | None = None  # seconds that the receiver asked for
    gone: bool = False


class Channel(Protocol):
    """One kind of channel. `settings` is the channel's JSON with its secrets; `send` never raises for what the receiver
    does."""

    kind: str

    def check(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings in their canonical form; raises ChannelError, saying what was expected."""

    async def send(self, delivery: OutgoingDelivery, settings: Mapping[str, Any], now: Instant) -> Attempt: ...


def destination_of(channel: StoredChannel) -> str:
    """The host or mailbox whose attempts are limited together. Pages, logs and mails show it, so it has no secrets."""
    url = channel.settings.get("url")
    if isinstance(url, str):
        if channel.kind == "apprise":
            return f"{channel.kind} {apprise_place(url)}"
        try:
            return f"{channel.kind} {urlsplit(url).netloc.rpartition('@')[2].lower()}"
        except ValueError:
            return f"{channel.kind} …"
    return f"{channel.kind} {channel.settings.get('address') or channel.subscription}"
