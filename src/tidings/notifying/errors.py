"""What can be wrong with a channel's rhythm, or with asking for a channel at all."""

from __future__ import annotations

from collections.abc import Sequence

from tidings.errors import ChannelError, Explained


class InvalidRhythm(Explained, ChannelError):
    """A member of a channel's digest, rate or quiet hours: its name, what it must be, and what it was."""

    member: str
    expected: str
    got: object
    template = "the channel's {member!v} must be {expected}, got {got!v}"


class UnknownTimeZone(Explained, ChannelError):
    """Quiet hours in a zone that this machine does not know."""

    name: str
    known: Sequence[str]
    template = "no time zone {name!v}; it must be a name such as 'Europe/Athens'{hint}"


class UnknownChannel(Explained, ChannelError):
    """A kind of channel that this outbox cannot send by."""

    name: str
    known: Sequence[str]
    template = "no channel of kind {name!v} is set up here{hint}"
