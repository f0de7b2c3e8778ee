"""Filters in arrays become the boxes that they become one by one."""

import numpy as np
import pytest

from tidings.events import Event, EventBatch
from tidings.language import Subscription
from tidings.matching.boxes.bulk import box_table
from tidings.matching.boxes.predicate_table import OPERATORS, PredicateTable
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.schema import json_form

SCHEMA = json_form.read(
    {
        "domains": [
            {"name": "n", "kind": "numeric"},
            {"name": "h", "kind": "hierarchical", "tree": {"r": {"a": {}, "b": {"c": {}}}}},
        ],
        "attributes": [{"name": "x", "domain": "n"}, {"name": "h", "domain": "h"}],
        "event_types": [
            {
                "name": "t",
                "attributes": [
                    {"name": "x", "mandatory": False, "unique": False},
                    {"name": "h", "mandatory": False, "unique": False},
                ],
            }
        ],
    }
)
NODES = ("r", "r > a", "r > b", "r > b > c")


def table(*filters: list[tuple[str, str, float]]) -> PredicateTable:
    flat = [predicate for one in filters for predicate in one]
    return PredicateTable(
        SCHEMA,
        ("x", "h"),
        ((), NODES),
        np.cumsum([0, *(len(one) for one in filters)]),
        np.array([("x", "h").index(name) for name, _, _ in flat], np.int16),
        np.array([OPERATORS.index(operator) for _, operator, _ in flat], np.int8),
        np.array([value for _, _, value in flat], np.float64),
    )


@pytest.mark.parametrize(
    "filters",
    [
        [[("x", ">", 5), ("x", "!=", 7)]],
        [[("x", "!=", 5), ("x", "!=", 7)], [("x", "<", 5)]],
        [[("h", ">=", 2), ("h", ">=", 3)], [("h", ">", 3)], [("h", ">", 0)]],
        [[("x", "=", 1e19)], [("x", "!=", 1e308)], [("x", "<=", -1e308)], [("x", ">", 1e308)]],
        [[("x", ">", 5), ("x", "<", 5)], [("x", "contains", 5), ("x", "contains", 7)]],
    ],
)
def test_the_same_matches_as_one_by_one(filters: list[list[tuple[str, str, float]]]) -> None:
    made = table(*filters)
    naive, boxes = NaiveMatcher(SCHEMA), BoxMatcher(SCHEMA, threads=1)
    for number in range(len(made)):
        naive.add(Subscription(f"s{number}", made.filter(number)))
    boxes.load(box_table(made), [f"s{number}" for number in range(len(made))])
    values = [(5,), (7,), (5, 7), (7, 3), (6,), (1e19,), (1e308, -1e308)]
    events = [Event(f"e{n}", ("t",), (("x", one),)) for n, one in enumerate(values)]
    events += [
        Event(f"h{n}", ("t",), (("h", one),))
        for n, one in enumerate([("r > a", "r > b > c"), ("r",), ("r > b",), ("r > b > c", "r")])
    ]
    batch = EventBatch.of(events, SCHEMA)
    expected, found = naive.match(batch), boxes.match(batch)
    for row in range(len(batch)):
        assert sorted(found.of(row).tolist()) == sorted(expected.of(row).tolist()), events[row]
