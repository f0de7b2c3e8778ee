"""What can be wrong with a channel's rhythm, or with asking for a channel at all."""

from __future__ import annotations

from collections.abc import Sequence

from tidings.errors import ChannelError, shown, suggestion


class InvalidRhythm(ChannelError):
    """A member of a channel's digest, rate or quiet hours: its name, what it must be, and what it was."""

    def __init__(self, member: str, expected: str, got: object) -> None:
        super().__init__(member, expected, got)

    def __str__(self) -> str:
        member, expected, got = self.args
        return f"the channel's {shown(member)} must be {expected}, got {shown(got)}"


class UnknownTimeZone(ChannelError):
    """Quiet hours in a zone that this machine does not know: its name, and those that are known."""

    def __init__(self, zone: str, known: Sequence[str]) -> None:
        super().__init__(zone, known)

    def __str__(self) -> str:
        zone, known = self.args
        return f"no time zone {shown(zone)}; it must be a name such as 'Europe/Athens'{suggestion(zone, known)}"


class UnknownChannel(ChannelError):
    """A kind of channel that this outbox cannot send by: the kind, and those that it can."""

    def __init__(self, kind: str, known: Sequence[str]) -> None:
        super().__init__(kind, known)

    def __str__(self) -> str:
        kind, known = self.args
        return f"no channel of kind {shown(kind)} is set up here{suggestion(kind, known)}"
