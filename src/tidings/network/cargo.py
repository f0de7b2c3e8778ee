"""What goes along when a subscription moves, as bytes: MessagePack, compressed."""

from __future__ import annotations

import zlib
from hashlib import sha256
from typing import Annotated

import msgspec

from tidings.network.wire import WrongMessage
from tidings.network.wire_shapes import NO_ZERO, Name

_MOST_BYTES = 3 << 20  # compressed, of one offer
_LARGEST = 64 << 20  # uncompressed
_Text = Annotated[str, msgspec.Meta(max_length=1 << 20, pattern=NO_ZERO)]
_State = Annotated[str, msgspec.Meta(pattern=NO_ZERO)]  # of any length


class CargoEvent(msgspec.Struct, array_like=True, frozen=True):
    body: str
    origin: Name
    incarnation: int
    position: int
    pending: bool = False  # the old server did not match it yet
    ahead: bool = False  # its mark does not speak for it yet


class CargoNotification(msgspec.Struct, array_like=True, frozen=True):
    event: int  # its number, -1: none
    stored: int
    detection: _Text = ""
    body: _Text = ""


class Cargo(msgspec.Struct, frozen=True):
    """A subscription and everything that belongs to it. `states` are key values, due, body and forget; `early` are
    matches of leaves that wait for their time."""

    ticket: _Text
    text: _Text
    composite: bool
    paused: bool
    opened: int
    expiry: _Text = ""
    name: _Text = ""
    note: _Text = ""
    events: tuple[CargoEvent, ...] = ()
    notifications: tuple[CargoNotification, ...] = ()
    states: tuple[tuple[_State, int | None, _State, int | None], ...] = ()
    early: _State = "[]"
    since: int = 0  # where it began at the old server


def ticket_digest(ticket: str) -> bytes:
    return sha256(ticket.encode()).digest()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Cargo).decode


def packed(cargo: Cargo) -> bytes:
    return zlib.compress(_encode(cargo), 3)


def fits(data: bytes) -> bool:
    """Into one message."""
    return len(data) <= _MOST_BYTES


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
        raise WrongMessage("a notification refers to a missing event")
    return cargo
