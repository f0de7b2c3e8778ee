"""Many filters at once: the same boxes, the same refusals, all or none."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.matching.gate import answers
from tests.strategies.filters import RICH, catalogs, events, filter_texts
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.algorithm import ForeignFilter
from tidings.matching.boxes.box import boxes_of
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.matching.spans import DisorderedPosition, DuplicateSubscription, IllegalId
from tidings.schema import Catalog
from tidings.schema.growth import AppendValue, grow
from tidings.schema.json_form import read
from tidings.workloads import WORKLOADS


def subscription(id: str, text: str = "price < 10") -> Subscription:
    return Subscription(id, Filter.parse(text, RICH))


@settings(max_examples=60, deadline=None)
@given(catalogs(), st.data())
def test_many_at_once_match_as_one_by_one(catalog: Catalog, data: st.DataObject) -> None:
    filters = [Filter.parse(text, catalog) for text in data.draw(st.lists(filter_texts(catalog, most=3), max_size=8))]
    naive, boxes = NaiveMatcher(catalog), BoxMatcher(catalog, threads=1)
    many = [(Subscription(f"s{n}", filter), data.draw(st.integers(0, 5))) for n, filter in enumerate(filters)]
    for one, at in many:
        naive.add(one, at)
    assert boxes.add_many(iter(many)) == range(len(many))
    batch = EventBatch.of(data.draw(st.lists(events(catalog), min_size=1, max_size=5)), catalog, 1)
    assert answers(boxes, batch) == answers(naive, batch)


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("price < 10 and size = 'M' and title >= 'a' and category under table", True),
        ("paint contains red and body contains 'word' and made > '2026-05-01T00:00:00Z'", True),
        ("price != 3", True),
        ("price > 1 and price < 5", True),
        ("price > 5 and price < 1", True),
        ("names contains 'a' and names contains 'b' and names >= 'a' and names < 'b'", True),
        ("price < 10 or size = 'M'", False),
        ("price < budget", False),
        ("not (\"zip code\" = 3)", False),  # `!=` is not among the domain's operators
        ("made > '0001-01-01T00:00:01Z'", False),  # a float cannot tell its microseconds apart
        ("body contains all 'two words'", False),
    ],
)  # fmt: skip
def test_which_filters_become_arrays_at_once(text: str, is_plain: bool) -> None:
    filter = Filter.parse(text, RICH)
    for made in (FilterBatch.of([filter], RICH), FilterBatch.of_texts([text], RICH)):
        assert made.places.tolist() == [0] * is_plain
        assert list(made.others) == [0] * (not is_plain)
        boxes = made.boxes(7)
        assert boxes.number.tolist() == [7] * len(boxes_of(filter, RICH))
        assert made.texts().to_pylist() == [filter.text]


def test_filters_of_both_ways_keep_their_numbers() -> None:
    texts = ["price < 10 or size = 'M'", "price < 5", "price < budget", "price > 50", "price != 3 or price > 9"]
    for made in (FilterBatch.of([Filter.parse(text, RICH) for text in texts], RICH), FilterBatch.of_texts(texts, RICH)):
        assert made.places.tolist() == [1, 3]
        assert sorted(set(made.boxes(7).number.tolist())) == [7, 8, 9, 10, 11]


def test_the_largest_numbers_are_added_many_at_once() -> None:
    texts = [f"prices {sign} {value}" for sign in ("<", ">=", "!=") for value in (-1.7e308, 0, 5, 1.7e308)]
    one, many = NaiveMatcher(RICH), BoxMatcher(RICH, threads=1)
    filters = [Subscription(text, Filter.parse(text, RICH)) for text in texts]
    for filter in filters:
        one.add(filter)
    many.add_many((filter, 0) for filter in filters)
    assert many.filter_texts() == dict(enumerate(filter.filter.text for filter in filters))
    values = [(-1.7e308,), (1.7e308,), (0, 1.7e308), (-1.7e308, 3), (sys.float_info.max,)]
    batch = EventBatch.of([Event(str(n), ("car",), (("prices", one),)) for n, one in enumerate(values)], RICH)
    assert answers(many, batch) == answers(one, batch)


def test_what_comes_later_joins_what_was_there() -> None:
    workload = WORKLOADS["thesis"]()
    table = workload.subscriptions(300)
    one, many = BoxMatcher(workload.catalog, threads=1), BoxMatcher(workload.catalog, threads=1)
    filters = [Subscription(f"s{number}", table.filter(number)) for number in range(300)]
    for number, filter in enumerate(filters):
        one.add(filter, number % 7)
    many.add(filters[0], 0)
    many.add_many((filters[number], number % 7) for number in range(1, 200))
    many.add_many((filters[number], number % 7) for number in range(200, 300))
    batch = workload.events(100).at(5)
    assert answers(many, batch) == answers(one, batch)
    assert np.array_equal(many.spans.start, one.spans.start)
    assert many.filter_texts() == one.filter_texts()


def test_all_are_added_or_none() -> None:
    matcher = BoxMatcher(RICH, threads=1)
    matcher.add(subscription("old"), 3)
    matcher.withdraw("old", 8)
    matcher.add(subscription("there"), 1)
    other = read(
        {
            "domains": [{"name": "d", "kind": "numeric"}],
            "attributes": [{"name": "elsewhere", "domain": "d"}],
            "event_types": [{"name": "t", "attributes": [{"name": "elsewhere"}]}],
        }
    )
    foreign = Subscription("foreign", Filter.parse("elsewhere < 3", other))
    newer = grow(RICH, AppendValue("sizes", "XXL"))
    unknown = Subscription("unknown", Filter.parse("size = 'XXL'", newer))
    wrong: list[tuple[list[tuple[Subscription, int]], type[Exception]]] = [
        ([(subscription("a"), 1), (subscription("there"), 2)], DuplicateSubscription),
        ([(subscription("a"), 1), (subscription("a"), 2)], DuplicateSubscription),
        ([(subscription("a"), 1), (subscription("old"), 7)], DisorderedPosition),
        ([(subscription("a"), 1), (subscription("half\ud800"), 7)], IllegalId),
        ([(subscription("a"), 1), (foreign, 7)], ForeignFilter),
        ([(subscription("a"), 1), (unknown, 7)], KeyError),
    ]
    for many, error in wrong:
        with pytest.raises(error):
            matcher.add_many(many)
        assert list(matcher.spans.active()) == ["there"]
        assert len(matcher.spans) == 2
    assert matcher.add_many([(subscription("a"), 1), (subscription("old"), 8)]) == range(2, 4)
    assert len(matcher.settled_segments()) == 1
    assert matcher.add_many([]) == range(4, 4)
