"""What the service's side tells the process that feeds it, through an environment that nobody else has."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

VARIABLE = "DEMO_ASSIGNMENT"  # not TIDINGS_…: those are settings, and an unknown one is refused


@dataclass(frozen=True, slots=True)
class Assignment:
    """Tokens of the publisher, and by name of the people whose wishes are to be made."""

    url: str
    data: str  # the folder
    publisher: str = field(repr=False)
    people: dict[str, str] = field(repr=False)
    rate: float  # auctions a second
    speed: float  # of the flights
    webhooks: bool  # whether the service sends to this machine
    began: float  # seconds since 1970

    def written(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def read(cls, text: str) -> Assignment:
        return msgspec.json.decode(text, type=cls)
