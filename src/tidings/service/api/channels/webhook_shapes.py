"""What a webhook's receiver is sent, for the documents; `tidings.notifying.channels.webhook` writes it."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from tidings.service.api.shapes import Shape


class WebhookNotification(Shape, frozen=True):
    """The body of a delivery with one notification."""

    id: Annotated[str, Meta(description="The same in every attempt, and in every channel: drop repeated ids")]
    subscription: str
    sequence: Annotated[int, Meta(ge=0, description="Counts a subscription's notifications from 1; 0 in a test")]
    filter: Annotated[str, Meta(description="The subscription's filter or composite; empty if it was withdrawn")]
    matched_at: str
    event: dict[str, Any]
    subscription_name: str | UnsetType = UNSET
    detection: dict[str, Any] | UnsetType = UNSET


class WebhookDigest(Shape, frozen=True):
    """The body of a delivery with several notifications."""

    id: Annotated[str, Meta(description="The delivery's, as in the header `webhook-id`")]
    subscription: str
    notifications: Annotated[list[WebhookNotification], Meta(min_length=2)]
    subscription_name: str | UnsetType = UNSET
    detection: dict[str, Any] | UnsetType = UNSET
