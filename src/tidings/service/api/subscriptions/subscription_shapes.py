"""Subscriptions as requests and answers have them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from tidings.service.api.channels.channel_shapes import Channel
from tidings.service.api.shapes import Shape
from tidings.store.journal.fitness import LONGEST_NAME, LONGEST_NOTE

Dialect = Literal["tidings", "cesql", "cloudevents"]
_LONGEST_TIME = 100
Name = Annotated[str, msgspec.Meta(description=f"One line of at most {LONGEST_NAME} characters; need not be unique")]
Note = Annotated[str, msgspec.Meta(description=f"A few lines, at most {LONGEST_NOTE:,} characters")]
CompositeText = Annotated[str, msgspec.Meta(description="A pattern over time: `[price > 100] before …`")]
Time = Annotated[str, msgspec.Meta(max_length=_LONGEST_TIME, description="A future time, ISO 8601")]


class NewSubscription(Shape, frozen=True):
    """What all new subscriptions may have."""

    channel: Channel | None = None
    expiry: Time | None = None
    name: Name | None = None
    note: Note | None = None


class NewFilterSubscription(NewSubscription, frozen=True, kw_only=True):
    """With a filter, in the language that `dialect` names."""

    filter: str
    dialect: Dialect = "tidings"


class NewFiltersSubscription(NewSubscription, frozen=True, kw_only=True):
    """With the `filters` array of CloudEvents subscriptions; all of them must match."""

    filters: list[dict[str, Any]]
    dialect: Literal["cloudevents"] = "cloudevents"


class NewCompositeSubscription(NewSubscription, frozen=True, kw_only=True):
    """With a pattern of several events over time."""

    composite: CompositeText


NEW = {"filter": NewFilterSubscription, "filters": NewFiltersSubscription, "composite": NewCompositeSubscription}


class ChangedSubscription(Shape, frozen=True):
    """At least one member, and not both `filter` and `composite`; `null` removes the expiry, the name or the note."""

    state: Literal["active", "paused"] | msgspec.UnsetType = msgspec.UNSET
    filter: str | msgspec.UnsetType = msgspec.UNSET
    composite: CompositeText | msgspec.UnsetType = msgspec.UNSET
    expiry: Time | msgspec.UnsetType | None = msgspec.UNSET
    channel: Channel | msgspec.UnsetType = msgspec.UNSET
    name: Name | msgspec.UnsetType | None = msgspec.UNSET
    note: Note | msgspec.UnsetType | None = msgspec.UNSET


class ErrorsSeen(Shape, frozen=True):
    """On how many events the expression ended in an error and so did not match, since the subscription was posted,
    edited or resumed; the last of them: its `position`, and what went wrong."""

    events: int
    position: int
    detail: str


class SubscriptionSeen(Shape, frozen=True):
    """It has a `filter` or a `composite`. Events after the journal position `since` are matched. The answer to a change
    has the change's `position`, unless nothing changed. A filter in another language has its `dialect` and what was
    `written`; `filter` is what it was translated into; it has `errors` if it ended in any."""

    id: str
    state: Literal["active", "paused"]
    expiry: str | None
    channel: Channel
    since: int
    name: str | None
    note: str | None
    filter: str | msgspec.UnsetType = msgspec.UNSET
    composite: CompositeText | msgspec.UnsetType = msgspec.UNSET
    dialect: Dialect | msgspec.UnsetType = msgspec.UNSET
    written: str | msgspec.UnsetType = msgspec.UNSET
    errors: ErrorsSeen | msgspec.UnsetType = msgspec.UNSET
    position: int | msgspec.UnsetType = msgspec.UNSET
    channel_state: str | msgspec.UnsetType = msgspec.UNSET
    secret: str | msgspec.UnsetType = msgspec.UNSET
    confirm: str | msgspec.UnsetType = msgspec.UNSET
    warnings: list[str] | msgspec.UnsetType = msgspec.UNSET
    settled: bool | msgspec.UnsetType = msgspec.UNSET


class Withdrawn(Shape, frozen=True):
    """Events after the journal `position` are no longer matched."""

    id: str
    position: int


class Subscriptions(Shape, frozen=True):
    items: list[SubscriptionSeen]
    next: str | None
