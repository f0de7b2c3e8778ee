"""A small catalog, filters by their texts and events by their values, for the tests of single algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from tidings.events import EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.matching.papers.indexed import IndexedMatcher
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind

M = TypeVar("M", bound=IndexedMatcher)

NUMBERS = ("a", "b", "c")
SHOP = Catalog(
    (Domain("number", Kind.NUMERIC), Domain("word", Kind.STRING)),
    (*(Attribute(name, "number") for name in NUMBERS), Attribute("name", "word"), Attribute("tag", "word")),
    tuple(
        EventType(
            type,
            (
                *(AttributeUse(name, mandatory=False) for name in (*NUMBERS, "name")),
                AttributeUse("tag", mandatory=False, unique=False),
            ),
        )
        for type in ("car", "toy", "pet")
    ),
)


def filled(matcher: M, *texts: str) -> M:
    """The matcher with these filters; each one's id is its text."""
    for text in texts:
        matcher.add(Subscription(text, Filter.parse(text, SHOP)))
    return matcher


def batch(*events: dict[str, Any]) -> EventBatch:
    """Events of type car, unless they say otherwise."""
    made = []
    for place, event in enumerate(events):
        types = event.get("event_type", "car")
        attributes = {name: value for name, value in event.items() if name != "event_type"}
        made.append(validate({"id": f"e{place}", "event_type": types, "attributes": attributes}, SHOP))
    return EventBatch.of(made, SHOP)


def matched(matcher: IndexedMatcher | NaiveMatcher, events: EventBatch) -> list[set[str]]:
    """The ids that each event matched."""
    found = matcher.match(events)
    return [{matcher.id(number) for number in found.of(event).tolist()} for event in range(len(events))]


def expected(texts: Sequence[str], events: EventBatch) -> list[set[str]]:
    """What the specification says."""
    naive = NaiveMatcher(SHOP)
    for text in texts:
        naive.add(Subscription(text, Filter.parse(text, SHOP)))
    return matched(naive, events)


# Every shape of side, shared and not, and filters that no index can find by a side.
MIXED = (
    "a = 1",
    "a = 1 and b = 2",
    "a = 1 and b = 3",
    "a = 1 and b < 3",
    "a < 5 and b > 2",
    "a <= 5 and c >= 1 and b = 2",
    "a between 2 and 6",
    "b between 1 and 2 and a exists",
    "not (c exists)",
    "a != 1",
    "a in (1, 3) and c > 0",
    "event_type contains toy",
    "event_type contains toy and a > 1",
    "event_type contains pet and b = 2",
    "name = 'mini' and a < 3",
    "tag contains 'red' and a < 9",
    "tag = 'blue' or a = 7",
)
EVENTS = batch(
    {},
    {"a": 1},
    {"a": 1, "b": 2, "c": 1},
    {"a": 1, "b": 3},
    {"a": 4, "b": 2.5},
    {"a": 2, "b": 1, "c": 0, "name": "mini"},
    {"a": 7, "tag": ["red", "blue"]},
    {"a": 3, "b": 2, "tag": "red", "event_type": "toy"},
    {"a": 0, "b": 2, "c": 9, "name": "maxi", "tag": ["green", "blue"], "event_type": ["pet", "toy"]},
    {"b": 2, "event_type": "pet"},
)
