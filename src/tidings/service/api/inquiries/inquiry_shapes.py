"""The bodies of what is asked of filters and stored events, and of the answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from tidings.schema.moments import WHEN
from tidings.service.api.shapes import Shape

LAST_POSITION = 2**62


class EventToExplain(Shape, frozen=True):
    """Name the event by exactly one of `event`, `position` and `id` (with its `source`)."""

    filter: str
    event: dict[str, Any] | UnsetType = UNSET
    position: Annotated[int, Meta(ge=1, le=LAST_POSITION)] | UnsetType = UNSET
    id: str | UnsetType = UNSET
    source: str | UnsetType = UNSET


class MarkSeen(Shape, frozen=True):
    """What a predicate is about in a value: characters from `start` until before `end` of the `place`-th value."""

    attribute: str
    place: int
    start: int
    end: int


class PredicateSeen(Shape, frozen=True):
    """`note` says how far away a place is."""

    predicate: str
    holds: bool
    values: dict[str, list[int | float | str | list[int | float]]]
    marks: list[MarkSeen]
    note: str


class AlternativeSeen(Shape, frozen=True):
    matches: bool
    note: str
    predicates: list[PredicateSeen]


class ExplanationSeen(Shape, frozen=True):
    filter: str
    event: str
    matches: bool
    alternatives: list[AlternativeSeen]
    warnings: list[str]


class FilterToTest(Shape, frozen=True):
    filter: str
    since: Annotated[str, Meta(max_length=100, description=f"Only events accepted at or after this time: {WHEN}")] = (
        "7d"
    )
    limit: Annotated[int, Meta(ge=0, le=100, description="How many of the newest matches to return")] = 10


class EventSeen(Shape, frozen=True):
    position: int
    accepted: str
    event: dict[str, Any]


class DaySeen(Shape, frozen=True):
    """A day on which matching events happened, UTC."""

    day: str
    count: int


class TimeBarSeen(Shape, frozen=True):
    """How many matching events happened from `start` until before `end`."""

    start: str
    end: str
    count: int


class OccurredEventSeen(EventSeen, frozen=True):
    occurred: str


class SearchSeen(Shape, frozen=True):
    items: list[OccurredEventSeen]
    next: str | None
    filter: str
    warnings: list[str]
    matched: int
    scanned: int
    unreadable: int
    bars: list[TimeBarSeen]
    reached: Annotated[int | None, Meta(description="Events at and below this position were not scanned")]
    complete_from: int


class TestSeen(Shape, frozen=True):
    filter: str
    warnings: list[str]
    never_matches: bool
    matches_everything: bool
    covered_by: list[str]
    matched: int
    scanned: int
    of_newest: int | None
    unreadable: int
    per_day: list[DaySeen]
    newest: list[EventSeen]
    complete_from: int


class EventsSeen(Shape, frozen=True):
    items: list[EventSeen]
    next: str | None
    scanned: int
    unreadable: int
    complete_from: int


class QueryAsked(Shape, frozen=True):
    query: str
    state: Literal["waiting", "running", "done", "failed"]


class QuerySeen(Shape, frozen=True):
    id: str
    state: Literal["waiting", "running", "done", "failed"]
    filter: str
    after: int
    upto: int
    matched: int
    reached: int
    complete: bool
    unreadable: int
    problem: str | None
    asked: str
    ended: str | None


class QueriesSeen(Shape, frozen=True):
    items: list[QuerySeen]
    next: str | None


class QueryEventsSeen(Shape, frozen=True):
    items: list[EventSeen]
    next: str | None
