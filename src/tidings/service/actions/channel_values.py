"""Channels on their way into the store: as they were asked for, checked, and kept; how they are confirmed; what can be
wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tidings.errors import Explained, ServiceError
from tidings.notifying.apprise_place import apprise_place
from tidings.store import StoredChannel

STORED = "stored"
KINDS = (STORED, "webhook", "email", "apprise")


class ChannelUnconfirmed(Explained, ServiceError):
    """The subscription, and how its channel is confirmed."""

    subscription: str
    how: str
    template = "the channel of {subscription!r} is not confirmed yet, so nothing can be sent: {how}"


class ChannelDisabled(Explained, ServiceError):
    """The subscription, and why."""

    subscription: str
    reason: str
    template = "the channel of {subscription!r} was disabled: {reason}; resume it first"


class NoSecret(Explained, ServiceError):
    """Of a kind of channel that signs nothing."""

    kind: str
    template = "a channel of kind {kind!r} has no secret; only webhooks are signed"


@dataclass(frozen=True, slots=True)
class ChannelAsked:
    """As somebody asked for it. `settings`: url or address, digest, rate, quiet."""

    kind: str = STORED
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def with_url_of(self, before: StoredChannel | None) -> ChannelAsked:
        """An Apprise URL is shown by its scheme and host only; sent back so, the whole one from before is meant."""
        url = None if before is None else before.settings.get("url")
        if before is None or not (self.kind == before.kind == "apprise") or not isinstance(url, str):
            return self
        is_shown = self.settings.get("url") == apprise_place(url) != url
        return replace(self, settings={**self.settings, "url": url}) if is_shown else self


@dataclass(frozen=True, slots=True)
class Wanted:
    """A channel that was checked: its settings in their canonical form, without kind and secrets."""

    kind: str
    settings: dict[str, Any]

    @property
    def destination(self) -> tuple[str, object]:
        return destination(self.kind, self.settings)


@dataclass(frozen=True, slots=True)
class Kept:
    """A channel. `secret` is there when it is new, `confirm` while the receiver has to agree."""

    channel: StoredChannel
    secret: str = ""
    confirm: str = ""


def destination(kind: str, settings: Any) -> tuple[str, object]:
    return kind, settings.get("address") if kind == "email" else settings.get("url")


def how_to_confirm(channel: StoredChannel, resume: str = "") -> str:
    """What its owner has to do; nothing where there is nothing to confirm. `resume` is how it is asked again, where
    that is not the API's way."""
    if channel.state != "unconfirmed":
        return ""
    resume = resume or f"POST /v1/subscriptions/{channel.subscription}/channel/resume"
    if channel.kind == "email":
        address = channel.settings.get("address")
        return f"{channel.reason}; follow the link in the mail to {address}; {resume} sends another"
    return (
        f"{channel.reason}; the receiver must answer OPTIONS with 200 and the header WebHook-Allowed-Origin "
        f"(this service's name, or *); then {resume}"
    )
