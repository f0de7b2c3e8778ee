"""Publish events: a raw one, or some that were found valid already. `event_lines` has the way of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from tidings.events import BrokenRule, RefusedEvent
from tidings.service.gateway import Gateway
from tidings.store import Accepted, Duplicate, Outcome, PublishValid, Refused


@dataclass(slots=True)
class PublishedEvent:
    """Not frozen: that costs as much as the rest of it, for every event."""

    id: str
    position: int
    duplicate: bool


async def publish(gateway: Gateway, raw: Any, size: int, id: str | None = None) -> PublishedEvent:
    """A raw event with `size` bytes; one without an id gets this one, or a new one. Raises RefusedEvent, Overloaded or
    StoreError."""
    check_size(gateway, size)
    try:
        give_id(raw, id)
        draft = gateway.evident_draft(raw, size) or await gateway.draft(raw, size)
    except RefusedEvent:
        gateway.published["refused"] += 1
        raise
    (outcome,) = await gateway.append((draft,))
    gateway.published[_COUNTED[type(outcome)]] += 1
    if isinstance(outcome, Refused):
        raise outcome.error
    return PublishedEvent(raw["id"], outcome.position, isinstance(outcome, Duplicate))


async def publish_valid(gateway: Gateway, drafts: Sequence[PublishValid]) -> list[Outcome]:
    """An outcome for each, and counted. Raises Overloaded or StoreError."""
    outcomes = await gateway.append(drafts)
    counts = gateway.published
    for outcome in outcomes:
        counts[_COUNTED[type(outcome)]] += 1
    return outcomes


def check_size(gateway: Gateway, size: int) -> None:
    """Raises RefusedEvent."""
    largest = gateway.settings.largest_event
    if size > largest:
        gateway.published["refused"] += 1
        raise too_large(size, largest)


def too_large(size: int, largest: int) -> RefusedEvent:
    message = f"the event has {size:,} bytes; at most {largest:,} are allowed"
    return RefusedEvent(None, (BrokenRule("form", None, None, message),))


def give_id(raw: Any, new: str | None = None) -> None:
    """If it has none; a raw event that is not an object is left to `validate`. Raises RefusedEvent for a zero
    character, which `validate` lets pass since events of older releases may have it."""
    if type(raw) is not dict:
        return
    id = raw.get("id")
    if id is None:
        raw["id"] = new or uuid4().hex
    elif type(id) is str and "\0" in id:
        raise _zero_in("id", id, id)
    source = raw.get("source")
    if type(source) is str and "\0" in source:
        raise _zero_in("source", source, id)


def _zero_in(member: str, value: str, id: Any) -> RefusedEvent:
    broken = BrokenRule("form", member, value, f"the {member} contains a zero character (U+0000)")
    return RefusedEvent(id if type(id) is str else None, (broken,))


_COUNTED = {Accepted: "accepted", Duplicate: "duplicate", Refused: "refused"}
