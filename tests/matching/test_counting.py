"""Counting on the thesis's own example: which predicates are satisfied, and who gets the hits."""

import numpy as np
import pytest

from tests.matching.random_boxes import table_of
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.boxes.box import boxes_of
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.event_table import EventTable
from tidings.matching.papers.counting import CountingMatcher
from tidings.matching.papers.predicate_clusters import (
    AT_LEAST,
    BELOW,
    EQUAL,
    PredicateClusters,
    count_hits,
    predicate_clusters,
    satisfied,
    take_back,
)
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind

CATALOG = Catalog(
    domains=(Domain("number", Kind.NUMERIC),),
    attributes=tuple(Attribute(name, "number") for name in "abcde"),
    event_types=(EventType("event", tuple(AttributeUse(name, mandatory=False) for name in "abcde")),),
)
SUBSCRIPTIONS = {  # thesis 7.5
    "s1": "a > 6 and b = 6 and c < 12",
    "s2": "a > 6 and d = 7",
    "s3": "d = 7 and e < 3",
}
EVENT = {"c": 8, "e": 0, "d": 9}
IDS = list(SUBSCRIPTIONS)


def clusters_of(table: BoxTable) -> PredicateClusters:
    every = np.ones(len(table), bool)
    return predicate_clusters(table, np.ones(len(table.low), bool), every, ~every)


def batch_of(values: dict[str, int]) -> EventBatch:
    bound = tuple(sorted((name, (value,)) for name, value in values.items()))
    return EventBatch.of([Event("e", ("event",), bound)], CATALOG)


@pytest.fixture
def table() -> BoxTable:
    filters = [Filter.parse(text, CATALOG) for text in SUBSCRIPTIONS.values()]
    return BoxTable.of([(n, box) for n, f in enumerate(filters) for box in boxes_of(f, CATALOG)], CATALOG)


def names(table: BoxTable, clusters: PredicateClusters, predicates: range | set[int]) -> list[str]:
    """In the example each attribute has one predicate, so its name stands for it."""
    return sorted(table.dimensions[clusters.predicates[p, 1]].axis.attribute for p in predicates)


def test_each_predicate_is_stored_once(table: BoxTable) -> None:  # thesis 7.5, figures 7.3 and 7.4
    clusters = clusters_of(table)
    assert names(table, clusters, range(len(clusters.predicates))) == ["a", "b", "c", "d", "e"]  # p1 to p5
    owners = {
        names(table, clusters, {p})[0]: {
            IDS[clusters.boxes[slot]] for slot in clusters.postings[clusters.offsets[p] : clusters.offsets[p + 1]]
        }
        for p in range(5)
    }
    assert owners == {"a": {"s1", "s2"}, "b": {"s1"}, "c": {"s1"}, "d": {"s2", "s3"}, "e": {"s3"}}


def test_satisfied_predicates_and_hits(table: BoxTable) -> None:  # thesis 7.5, figures 7.5 and 7.7
    clusters = clusters_of(table)
    point = EventTable.of(batch_of(EVENT), table.dimensions).least[0]
    ranges = np.empty((3 * len(table.dimensions), 2), np.int64)
    rows = satisfied(point, clusters.sizes, clusters.bases, clusters.upto, ranges)
    predicates = {p for first, last in ranges[:rows].tolist() for p in range(first, last)}
    assert names(table, clusters, predicates) == ["c", "e"]  # c < 12 and e < 3, but not d = 7

    left, out = clusters.needed.copy(), np.empty(8, np.int32)
    n, hits, rows = count_hits(clusters, point, ranges, left, 0, out)
    given = {IDS[box]: int(clusters.needed[s] - left[s]) for s, box in enumerate(clusters.boxes)}
    assert given == {"s1": 1, "s2": 0, "s3": 1}
    assert {IDS[box]: int(clusters.needed[s]) for s, box in enumerate(clusters.boxes)} == {
        "s1": 3,
        "s2": 2,
        "s3": 2,
    }
    assert (n, hits) == (0, 2)  # no subscription has as many hits as predicates
    take_back(clusters, ranges, rows, hits, left)
    assert (left == clusters.needed).all()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (EVENT, []),
        ({"a": 7, "b": 6, "c": 11}, ["s1"]),
        ({"a": 7, "d": 7}, ["s2"]),
        ({"a": 6, "d": 7, "e": 2}, ["s3"]),
        ({"a": 7, "b": 6, "c": 0, "d": 7, "e": 2}, ["s1", "s2", "s3"]),
    ],
)
def test_the_example_matches(values: dict[str, int], expected: list[str]) -> None:  # thesis 7.5
    matcher = CountingMatcher(CATALOG)
    for id, text in SUBSCRIPTIONS.items():
        matcher.add(Subscription(id, Filter.parse(text, CATALOG)))
    found = matcher.match(batch_of(values))
    assert sorted(matcher.id(number) for number in found.of(0).tolist()) == expected


def test_a_side_with_two_bounds_is_two_predicates() -> None:
    clusters = clusters_of(table_of([{0: (2, 5)}, {0: (2, 2**31 - 1)}, {0: (0, 5)}, {0: (3, 4)}], 1))
    assert clusters.predicates.tolist() == [[AT_LEAST, 0, 2], [BELOW, 0, 5], [EQUAL, 0, 3]]
    assert clusters.needed.tolist() == [2]
    assert clusters.boxes.tolist() == [0]
    assert clusters.lone.tolist() == [1, 2, 3]


def test_the_cost_is_the_hits() -> None:
    matcher = CountingMatcher(CATALOG)
    for id, text in SUBSCRIPTIONS.items():
        matcher.add(Subscription(id, Filter.parse(text, CATALOG)))
    assert matcher.match(batch_of(EVENT)).cost.predicates == 2
    assert matcher.match(batch_of({"a": 7, "d": 7})).cost.predicates == 4  # s1 one, s2 two, s3 one
