"""What each kind of message between servers has, with the bounds of its members; `wire` reads and writes them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

MOST_BYTES = 4 << 20  # that a server puts into one, unless a single message has more
MOST_MESSAGES = 10_000
_MOST_FILTERS = 10_000
_MOST_EVENTS = 2_000
_MOST_NAMES = 20_000
_MOST_STAMPS = 20_000
_MOST_ORDERS = 20_000

NO_ZERO = r"^[^\x00]*$"  # PostgreSQL keeps no zero character
Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9.-]{1,60}\Z")]  # of a server
Home = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9.-]{0,60}\Z")]  # or none
Label = Annotated[str, msgspec.Meta(min_length=1, max_length=100, pattern=NO_ZERO)]
LONGEST_TEXT = 64_000
Text = Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)]
Key = Annotated[str, msgspec.Meta(max_length=4_000, pattern=NO_ZERO)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Weight = Annotated[float, msgspec.Meta(gt=0, le=1e9)]  # with NaN, each server would compute a tree of its own
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Numbers = tuple[Count, Count]
Filters = Annotated[list[Text], msgspec.Meta(max_length=_MOST_FILTERS)]
Event = tuple[Key, Key, str, Name, Count, Count, Count]
_Events = Annotated[list[Event], msgspec.Meta(max_length=_MOST_EVENTS)]
_Numbered = Annotated[dict[Name, Numbers], msgspec.Meta(max_length=_MOST_NAMES)]
LONGEST_GROWTH = MOST_BYTES  # a grammar may be long
_Growth = Annotated[str, msgspec.Meta(max_length=LONGEST_GROWTH)]
Order = tuple[Label, str, _Growth, Count]


class Heartbeat(msgspec.Struct, array_like=True):
    version: Numbers
    sent: Seconds
    known: _Numbered
    heads: _Numbered
    holds: Numbers
    rule: tuple[Count, Home]
    schema: Count
    digest: Key


class Beaten(msgspec.Struct, array_like=True):
    version: Numbers
    sent: Seconds
    schema: Count
    conflict: bool


class State(msgspec.Struct, array_like=True):
    name: Name
    identity: Key
    version: Numbers
    weights: Annotated[list[tuple[Name, Weight]], msgspec.Meta(max_length=1_000)]


class States(msgspec.Struct, array_like=True):
    states: Annotated[list[State], msgspec.Meta(max_length=_MOST_NAMES)]


class Posted(msgspec.Struct, array_like=True):
    version: Numbers
    filters: Filters
    advertisements: Filters
    schema: Count


class EventsSent(msgspec.Struct, array_like=True):
    version: Numbers
    events: _Events


class Orders(msgspec.Struct, array_like=True):
    start: Count
    digest: Key
    orders: Annotated[list[Order], msgspec.Meta(max_length=_MOST_ORDERS)]


class Routed(msgspec.Struct, array_like=True):
    to: Name
    hops: Annotated[int, msgspec.Meta(ge=0, le=1_000)]
    kind: str
    body: msgspec.Raw


class Ask(msgspec.Struct, array_like=True):
    asker: Name
    life: Numbers
    filters: Filters
    mark: Numbers
    head: Numbers
    has: Annotated[list[Numbers], msgspec.Meta(max_length=_MOST_STAMPS)]
    schema: Count


class Answer(msgspec.Struct, array_like=True):
    origin: Name
    life: Numbers
    events: _Events
    mark: Numbers
    gap: Numbers | None
    schema: Count


class OrderRequest(msgspec.Struct, array_like=True):
    requester: Name
    request: Label
    order: Order


class OrderAnswer(msgspec.Struct, array_like=True):
    request: Label
    version: Count
    refused: Text


class MoveIn(msgspec.Struct, array_like=True):
    giver: Name
    version: Numbers
    subscription: Key
    filter: Text
    marks: _Numbered
    cargo: bytes
    schema: Count


class MovedIn(msgspec.Struct, array_like=True):
    subscription: Key
    version: Numbers


class MoveRefused(msgspec.Struct, array_like=True):
    subscription: Key
    reason: Text


class Luggage(msgspec.Struct, array_like=True):
    giver: Name
    subscription: Key
    after: Count
    upto: Count
    cargo: bytes
    schema: Count


class Stowed(msgspec.Struct, array_like=True):
    subscription: Key
    upto: Count
    refused: Text


class Search(msgspec.Struct, array_like=True):
    asker: Name
    name: Label
    filter: Text
    most: Annotated[int, msgspec.Meta(ge=1, le=_MOST_EVENTS)]
    schema: Count


class Searched(msgspec.Struct, array_like=True):
    name: Label
    server: Name
    events: _Events
    all: bool


class Probe(msgspec.Struct, array_like=True):
    name: Label
    version: Numbers


class Probed(msgspec.Struct, array_like=True):
    name: Label


class Taken(msgspec.Struct, array_like=True):
    version: Numbers


SHAPES: dict[str, type[Any]] = {
    "heartbeat": Heartbeat, "beaten": Beaten, "states": States, "posted": Posted, "events": EventsSent,
    "taken": Taken, "orders": Orders, "routed": Routed, "probe": Probe, "probed": Probed,
    "ask": Ask, "answer": Answer, "order": OrderRequest, "ordered": OrderAnswer, "search": Search,
    "searched": Searched, "move": MoveIn, "moved": MovedIn, "not moved": MoveRefused,
    "luggage": Luggage, "stowed": Stowed,
}  # fmt: skip
