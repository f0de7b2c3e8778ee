"""What goes along when a subscription moves, as bytes: MessagePack, compressed."""

from __future__ import annotations

import zlib
from hashlib import sha256
from typing import Annotated

import msgspec

from tidings.network.wire import WrongMessage

_MOST_BYTES = 3 << 20  # compressed, of one offer
_LARGEST = 64 << 20  # uncompressed
_Text = Annotated[str, msgspec.Meta(max_length=1 << 20)]


class CargoEvent(msgspec.Struct, array_like=True, frozen=True):
    body: str
    origin: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    incarnation: int
    position: int
    pending: bool = False  # the old server did not match it yet
    ahead: bool = False  # its mark does not speak for it yet


class CargoNotification(msgspec.Struct, array_like=True, frozen=True):
    event: int  # its number, -1: none
    stored: int
    detection: _Text = ""
    body: str = ""


class Cargo(msgspec.Struct, frozen=True):
    """A subscription and everything that belongs to it. `states` are key values, due, body and forget; `early` are
    matches of leaves that wait for their time."""

    ticket: _Text
    text: _Text
    composite: bool
    paused: bool
    opened: int
    expiry: str = ""
    name: str = ""
    note: str = ""
    events: tuple[CargoEvent, ...] = ()
    notifications: tuple[CargoNotification, ...] = ()
    older: int = 0
    states: tuple[tuple[str, int | None, str, int | None], ...] = ()
    early: str = "[]"
    since: int = 0  # where it began at the old server


def ticket_digest(ticket: str) -> bytes:
    return sha256(ticket.encode()).digest()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Cargo).decode


def packed(cargo: Cargo) -> bytes:
    """With as many of the newest notifications as a message has room for."""
    while True:
        data = zlib.compress(_encode(cargo), 3)
        kept = len(cargo.notifications) // 2
        if len(data) <= _MOST_BYTES or not cargo.notifications:
            return data
        dropped = len(cargo.notifications) - kept
        cargo = msgspec.structs.replace(cargo, notifications=cargo.notifications[dropped:], older=cargo.older + dropped)
        cargo = _without_unused(cargo)


def _without_unused(cargo: Cargo) -> Cargo:
    """Less the events that only notifications named which stay behind."""
    used = {one.event for one in cargo.notifications}
    keep = [number for number, one in enumerate(cargo.events) if number in used or one.pending or one.ahead]
    numbers = {old: new for new, old in enumerate(keep)} | {-1: -1}
    notifications = [msgspec.structs.replace(one, event=numbers[one.event]) for one in cargo.notifications]
    return msgspec.structs.replace(
        cargo, events=tuple(cargo.events[one] for one in keep), notifications=tuple(notifications)
    )


def unpacked(data: bytes) -> Cargo:
    """Raises WrongMessage."""
    try:
        plain = zlib.decompressobj()
        text = plain.decompress(data, _LARGEST)
        if plain.unconsumed_tail:
            raise WrongMessage("the cargo of a subscription is too large")
        cargo = _decode(text)
    except (zlib.error, msgspec.MsgspecError) as problem:
        raise WrongMessage(str(problem)) from None
    if any(not -1 <= one.event < len(cargo.events) for one in cargo.notifications):
        raise WrongMessage("a notification names an event that is not there")
    return cargo
