"""Subscriptions as lines of a file: their form, what became of each, and what can be wrong with one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from tidings.errors import Explained, ServiceError, TidingsError
from tidings.language.dialects import CORE, core_text
from tidings.service.actions.channel_values import STORED
from tidings.store import Standing


class PlaceNotAgreed(Explained, ServiceError):
    """A channel that would go where no active channel of the owner goes."""

    kind: str
    place: str
    template = (
        "none of your active {kind} channels goes to {place!v}; subscribe once with this channel, then import again"
    )


class NeitherOrBoth(Explained, ServiceError):
    """A line without a filter and a composite, or with both."""

    template = "a subscription has either a 'filter' or a 'composite'; give exactly one of them"


class OtherContent(Explained, ServiceError):
    id: str
    template = (
        "you have a subscription {id!v} with another filter or composite, name, note, expiry or channel; "
        "edit that one instead"
    )


class RepeatedId(Explained, ServiceError):
    id: str
    line: int
    template = "the id {id!v} is already used in line {line}"


class TooManyToBind(Explained, ServiceError):
    """Of one request, so that others get their turn."""

    most: int
    template = (
        "the filters before this line have {most!n} predicates, written out as alternatives; "
        "send the rest in another request"
    )


class SubscriptionLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A subscription as a file has it, with a `filter` or a `composite`. `channel` is as the API shows it."""

    id: str | None = None
    filter: str | None = None
    composite: str | None = None
    name: str | None = None
    note: str | None = None
    expiry: str | None = None
    state: Literal["active", "paused"] | None = None
    channel: dict[str, Any] | None = None
    dialect: Literal["tidings", "cesql", "cloudevents"] | None = None

    @property
    def core_filter(self) -> str:
        """As text of the filter language; empty for a composite."""
        return "" if self.filter is None else core_text(self.dialect or CORE, self.filter)


@dataclass(frozen=True, slots=True)
class LineResult:
    """What became of a line. `position` is missing where nothing was stored, `error` unless it was refused."""

    line: int
    status: Literal["accepted", "duplicate", "refused"]
    id: str | None = None
    position: int | None = None
    error: TidingsError | None = None


def exported(standing: Standing, channel: Mapping[str, Any]) -> SubscriptionLine:
    """`channel` is as the API shows it."""
    return SubscriptionLine(
        id=standing.id,
        filter=None if standing.composite else standing.filter,
        composite=standing.filter if standing.composite else None,
        name=standing.name or None,
        note=standing.note or None,
        expiry=None if standing.expiry is None else str(standing.expiry),
        state="paused" if standing.state == "paused" else None,
        channel=None if channel["kind"] == STORED else dict(channel),
    )
