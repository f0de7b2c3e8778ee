"""Channels as requests and answers have them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from tidings.notifying.apprise_place import apprise_place
from tidings.notifying.outbox.rhythm import LONGEST_DIGEST, LONGEST_RATE, MOST_IN_A_DIGEST, MOST_IN_A_RATE
from tidings.service.actions.channel_values import KINDS, STORED, ChannelAsked
from tidings.service.api.shapes import Shape
from tidings.store import StoredChannel

_UNSET = msgspec.UNSET
_Clock = Annotated[str, msgspec.Meta(extra_json_schema={"pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"})]


def _number(least: int, most: int) -> msgspec.Meta:
    """For the document; what is wrong with a number, `rhythm` says in plainer words than msgspec would."""
    return msgspec.Meta(extra_json_schema={"minimum": least, "maximum": most})


class Digest(Shape, frozen=True):
    """Combines notifications: sent at `count` of them, or `seconds` after the first."""

    count: Annotated[int, _number(2, MOST_IN_A_DIGEST)] | msgspec.UnsetType = _UNSET
    seconds: Annotated[int, _number(1, LONGEST_DIGEST)] | msgspec.UnsetType = _UNSET


class Rate(Shape, frozen=True):
    """At most `count` deliveries in any `seconds`."""

    count: Annotated[int, _number(1, MOST_IN_A_RATE)]
    seconds: Annotated[int, _number(1, LONGEST_RATE)]


class Quiet(Shape, frozen=True, rename={"begin": "from", "end": "to"}):
    """Quiet hours in a time zone; nothing is sent meanwhile. They may span midnight."""

    begin: _Clock
    end: _Clock
    zone: str


class Channel(Shape, frozen=True):
    """How notifications are sent: `webhook` and `apprise` need a `url`, `email` an `address`; `stored` keeps them."""

    kind: Annotated[str, msgspec.Meta(extra_json_schema={"enum": list(KINDS)})] = STORED
    url: str | msgspec.UnsetType = _UNSET
    address: str | msgspec.UnsetType = _UNSET
    digest: Digest | msgspec.UnsetType | None = _UNSET
    rate: Rate | msgspec.UnsetType | None = _UNSET
    quiet: Quiet | msgspec.UnsetType | None = _UNSET

    def asked(self) -> ChannelAsked:
        """Only what was given."""
        given: dict[str, Any] = msgspec.to_builtins(self)
        kind = given.pop("kind", STORED)
        return ChannelAsked(kind, {name: value for name, value in given.items() if value is not None})


class ChannelSeen(Shape, frozen=True):
    """A channel with its settings and its state."""

    kind: str
    state: str
    url: str | msgspec.UnsetType = _UNSET
    address: str | msgspec.UnsetType = _UNSET
    digest: dict[str, Any] | msgspec.UnsetType = _UNSET
    rate: dict[str, Any] | msgspec.UnsetType = _UNSET
    quiet: dict[str, Any] | msgspec.UnsetType = _UNSET
    reason: str | msgspec.UnsetType = _UNSET
    sequence: int | msgspec.UnsetType = _UNSET
    failing_since: str | msgspec.UnsetType | None = _UNSET
    dead_in_a_row: int | msgspec.UnsetType = _UNSET
    seconds: float | msgspec.UnsetType = _UNSET
    problem: str | msgspec.UnsetType = _UNSET
    confirm: str | msgspec.UnsetType = _UNSET


def settings_seen(channel: StoredChannel | None) -> dict[str, Any]:
    """What was asked for, an Apprise URL by its scheme and host only; it can be sent back as it is."""
    if channel is None:
        return {"kind": STORED}
    return {"kind": channel.kind, **channel.settings} | shown_url(channel)


def shown_url(channel: StoredChannel) -> dict[str, str]:
    """In place of a URL that nobody may see."""
    url = channel.settings.get("url")
    return {"url": apprise_place(url)} if channel.kind == "apprise" and isinstance(url, str) else {}


def channel_seen(channel: StoredChannel | None, confirm: str = "") -> dict[str, Any]:
    if channel is None:
        return {"kind": STORED, "state": "active"}
    made = settings_seen(channel) | {
        "state": channel.state,
        "reason": channel.reason,
        "sequence": channel.sequence,
        "failing_since": None if channel.failing_since is None else str(channel.failing_since),
        "dead_in_a_row": channel.dead_in_a_row,
        "seconds": channel.seconds,
        "problem": channel.problem,
    }
    return made | ({"confirm": confirm} if confirm else {})
