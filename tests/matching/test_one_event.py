"""`match_one` gives what a batch of one gives and what naive gives, whatever form the event comes in."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.events.examples import ANTIQUE_CAR as CARS
from tests.matching.filter_pool import LOW, filters, truth
from tests.matching.filter_pool import events as pool_events
from tests.matching.test_access_paths import filled as filled_from_pool
from tests.matching.test_access_paths import thresholds
from tests.strategies.filters import CATEGORIES, RICH, catalogs, events, filter_texts
from tidings.events import Event, EventBatch, RefusedEvent, validate, write_event
from tidings.language import Filter, Subscription
from tidings.matching.algorithm import Algorithm
from tidings.matching.algorithms import ALGORITHMS, make_matcher
from tidings.matching.boxes.bulk import box_table
from tidings.matching.index import one_event as one_event_module
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.thresholds import DEFAULTS, Thresholds
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.schema.catalog import Catalog
from tidings.workloads import Flights, LeSubscribe, Rein, Thesis, Workload


def encoded(event: Event) -> bytes:
    return msgspec.json.encode(write_event(event))


def ids(matcher: Algorithm, numbers: Any) -> list[str]:
    """Sorted; a subscription reported twice would stand here twice."""
    return sorted(matcher.id(number) for number in numbers.tolist())


def assert_same(boxes: BoxMatcher, naive: NaiveMatcher, event: Event, position: int) -> None:
    batch = EventBatch.of([event], boxes.catalog, position)
    expected = ids(naive, naive.match(batch).of(0))
    assert ids(boxes, boxes.match(batch).of(0)) == expected
    for form in (encoded(event), encoded(event).decode(), write_event(event), event):
        assert ids(boxes, boxes.match_one(form, position)) == expected


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_equals_naive(data: st.DataObject) -> None:
    catalog = data.draw(catalogs())
    boxes, naive = BoxMatcher(catalog, 1, data.draw(st.sampled_from((LOW, DEFAULTS)))), NaiveMatcher(catalog)
    for number, text in enumerate(data.draw(st.lists(filter_texts(catalog), max_size=8))):
        subscription, start = Subscription(f"s{number}", Filter.parse(text, catalog)), data.draw(st.integers(0, 3))
        stop = data.draw(st.integers(start, 6)) if data.draw(st.integers(0, 3)) == 0 else None
        for matcher in (naive, boxes):
            matcher.add(subscription, start)
            if stop is not None:
                matcher.withdraw(subscription.id, stop)
        if data.draw(st.booleans()):
            boxes.settled()  # a segment of its own
    for event in data.draw(st.lists(events(catalog), min_size=1, max_size=4)):
        assert_same(boxes, naive, event, data.draw(st.integers(0, 6)))


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(0, len(filters()) - 1), min_size=50, max_size=200, unique=True),
    st.lists(st.integers(0, len(pool_events()) - 1), min_size=1, max_size=20),
    st.integers(1, 4),
    thresholds(),
)
def test_every_access_path_equals_naive(chosen: list[int], rows: list[int], parts: int, low: Thresholds) -> None:
    boxes = filled_from_pool(chosen, low, parts)
    for row in rows:
        expected = sorted(f"s{n}" for n, number in enumerate(chosen) if truth()[row, number])
        assert ids(boxes, boxes.match_one(encoded(pool_events()[row]))) == expected
        assert ids(boxes, boxes.match_one(pool_events()[row])) == expected


_JUNK = st.sampled_from(
    (None, True, 0, -1.5, 2**53, 2**53 + 1, -(2**70), 1e308, float("nan"), float("inf"), "", "red", "mini", "1",
     "x" * 1001, "\ud800", "日本", [], [[]], {}, [1, 1.0], [1, 2], ["red", "red"], ["red", None], ("red",), [True],
     "2026-05-01", "2026-13-01", ["car", "antique"], ["car", "car"], ["car", 1], "car", "boat", 0.0, -0.0,
     list(range(150)), np.float64(1), {"price": 1})
)  # fmt: skip


def filled(*texts: str) -> tuple[BoxMatcher, NaiveMatcher]:
    pair = BoxMatcher(RICH, 1, LOW), NaiveMatcher(RICH)
    for number, text in enumerate(texts):
        for matcher in pair:
            matcher.add(Subscription(f"s{number}", Filter.parse(text, RICH)))
    return pair


STANDING = filled(
    "event_type contains car", "price < 1", "prices != 1", "not (price exists)", "title = 'mini'", "names > 'm'",
    "names contains any 'red mini'", "colour = 'red'", "paint contains 'red'", "made > '2026-01-01'", "event.id < 'f'",
    "event.source = 'red mini'", "event.time exists", "category under furniture", "body contains any 'mini 日本'",
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_refuses_what_validate_refuses(data: st.DataObject) -> None:
    """Valid events with one or two things changed: the same matches, or the same broken rules."""
    raw = write_event(data.draw(events(RICH)))
    for _ in range(data.draw(st.integers(0, 2))):
        member = st.sampled_from(("id", "source", "time", "contact", "event_type", "attributes", "price", "more"))
        attribute = st.sampled_from((*(a.name for a in RICH.attributes), "nothing", "event.id", "event_type"))
        if data.draw(st.booleans()) and isinstance(raw.get("attributes"), dict):
            raw["attributes"][data.draw(attribute)] = data.draw(_JUNK)
        elif data.draw(st.booleans()):
            raw[data.draw(member)] = data.draw(_JUNK)
        else:
            raw.pop(data.draw(member), None)
    boxes, naive = STANDING
    assert outcome(lambda: ids(boxes, boxes.match_one(raw))) == outcome(lambda: by_validate(naive, raw))
    text = json_of(raw)
    if text is not None:
        again = msgspec.json.decode(text)
        assert outcome(lambda: ids(boxes, boxes.match_one(text))) == outcome(lambda: by_validate(naive, again))


def by_validate(naive: NaiveMatcher, raw: object) -> list[str]:
    return ids(naive, naive.match(EventBatch.of([validate(raw, RICH)], RICH)).of(0))


def outcome(call: Callable[[], list[str]]) -> object:
    try:
        return call()
    except RefusedEvent as refused:
        return repr(refused.args)


def json_of(raw: object) -> bytes | None:
    """None where JSON cannot say it."""
    try:
        return msgspec.json.encode(raw)
    except (TypeError, UnicodeEncodeError):
        return None


@pytest.mark.parametrize("given", [b"", b"{", b"\xff", b'{"id": "e1"', "[1]", b"[" * 100_000, 7, None, b'"car"'])
def test_what_is_no_event_is_refused(given: Any) -> None:
    for matcher in (BoxMatcher(RICH), NaiveMatcher(RICH)):
        with pytest.raises(RefusedEvent) as refused:
            matcher.match_one(given)
        assert [error.rule for error in refused.value.errors] == ["form"] or given == b'{"id": "e1"'


def test_antique_car_without_quantity_is_refused() -> None:  # thesis 3.1
    boxes = BoxMatcher(CARS)
    boxes.add(Subscription("cheap", Filter.parse("price < 1500", CARS)))
    bound = {"price": 1300, "period": 1970, "quantity": 1, "brand": "cooper", "cc": 1000}
    raw = {"id": "e", "event_type": ["antique", "car"], "attributes": bound}
    assert ids(boxes, boxes.match_one(raw)) == ["cheap"]
    del bound["quantity"]
    with pytest.raises(RefusedEvent, match="quantity"):
        boxes.match_one(raw)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_it(name: str) -> None:
    matcher = make_matcher(name, RICH)
    matcher.add(Subscription("cheap", Filter.parse("price < 3 and colour = 'red'", RICH)))
    raw = {"id": "e1", "event_type": "car", "attributes": {"price": 2, "colour": "red"}}
    assert ids(matcher, matcher.match_one(raw)) == ["cheap"]
    assert ids(matcher, matcher.match_one(msgspec.json.encode(raw))) == ["cheap"]
    assert ids(matcher, matcher.match_one(validate(raw | {"attributes": {"price": 4}}, RICH))) == []


WORKLOADS = [
    (LeSubscribe(1.0), 3_000),
    (LeSubscribe(0.5), 20_000),
    (Thesis(), 2_000),
    (Rein(), 18_000),  # a cluster without key that batches look at in blocks
    (Flights(), 2_000),
]


@pytest.mark.parametrize(("workload", "filters"), WORKLOADS, ids=lambda one: getattr(one, "name", one))
def test_many_filters_equal_a_batch(workload: Workload, filters: int) -> None:
    boxes = BoxMatcher(workload.catalog, threads=1)
    for first in (0, filters):  # two segments
        table = box_table(workload.subscriptions(filters, first), first)
        boxes.load(table, [f"s{number}" for number in range(first, first + filters)], at=first // filters)
    for number in range(0, 2 * filters, 7):
        boxes.withdraw(f"s{number}", at=100 + number % 100)
    batch = workload.events(150).at(100)
    expected = boxes.match(batch)
    assert len(expected) > 0
    for row, event in enumerate(batch):
        found = np.sort(boxes.match_one(encoded(event), 100 + row))
        assert found.tolist() == sorted(expected.of(row).tolist())


def test_values_that_no_filter_names() -> None:
    """Between, below and above those that filters list, one value at a time."""
    boxes, naive = filled("prices contains 2", "prices contains 5", "names = 'b'", "names = 'd'")
    for price, name in ((1, "a"), (2, "b"), (3, "c"), (5, "d"), (6, "")):
        assert_same(boxes, naive, Event("e", ("offer",), (("names", (name,)), ("prices", (price,)))), 1)


def test_nodes_compared_and_texts_without_a_word() -> None:
    boxes, naive = filled('category < "kinds"', 'category > "kinds"', "body not contains 'mini'")
    nodes = CATEGORIES.nodes
    for category, kind in product(nodes, nodes):
        attributes = (("body", ("?",)), ("category", (category,)), ("kinds", (kind,)))
        assert_same(boxes, naive, Event("e", ("offer",), attributes), 1)


def test_many_values_and_many_doubts(monkeypatch: pytest.MonkeyPatch) -> None:
    """More candidates for a second look, and more ordinals, than there is room for at first."""
    boxes, naive = filled(*(f"prices > price and prices >= {number} or sold exists" for number in range(60)))
    event = Event("e", ("offer",), (("price", (30,)), ("prices", tuple(range(0, 120, 3)))))
    assert_same(boxes, naive, event, 1)
    monkeypatch.setattr(one_event_module, "_MOST_MARKS", 3)  # marks are used up
    for _ in range(5):
        assert_same(boxes, naive, event, 1)


def test_a_value_that_is_not_in_the_catalog_is_an_error() -> None:
    """As for a batch of such events: nothing is matched under a wrong ordinal."""
    boxes = BoxMatcher(RICH)
    boxes.add(Subscription("red", Filter.parse("colour = 'red'", RICH)))
    with pytest.raises(KeyError):
        boxes.match_one(Event("e", ("car",), (("colour", ("purple",)),)))


def test_matches_are_the_callers_own() -> None:
    boxes = BoxMatcher(RICH)
    boxes.add(Subscription("any", Filter.parse("price exists", RICH)))
    event = Event("e", ("car",), (("price", (1,)),))
    first = boxes.match_one(event)
    first[:] = -1
    assert ids(boxes, boxes.match_one(event)) == ["any"]


@pytest.fixture
def grown() -> Catalog:
    from tidings.schema.growth import AppendNode, grow

    return grow(RICH, AppendNode("categories", "sofa", "furniture"))


def test_a_grown_catalog_is_used_at_once(grown: Catalog) -> None:
    boxes = BoxMatcher(RICH)
    boxes.add(Subscription("furniture", Filter.parse("category under furniture", RICH)))
    boxes.add(Subscription("toys", Filter.parse("category under toy", RICH)))
    sofa = {"id": "e", "event_type": "car", "attributes": {"category": "sofa"}}
    with pytest.raises(RefusedEvent):
        boxes.match_one(sofa)
    boxes.adopt(grown)
    assert ids(boxes, boxes.match_one(sofa)) == ["furniture"]
    assert ids(boxes, boxes.match_one(sofa | {"attributes": {"category": "toy"}})) == ["toys"]


def test_filters_that_compute_leave_the_others_their_quick_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """One such filter sent every event of its segment the way of a batch, which takes a hundred times as long."""
    boxes, naive = filled(
        *(f"price = {number} and colour = 'red'" for number in range(9)),
        "price < 2 * budget + 1", "sold > made + 1 day", "made < now + 10 h", "sold >= now - 1 day",
        "spot near (37.8, -122.4) within 9 km", "spots not inside (50, 0, 52, 0)", "title starts with 'red'",
        "title like 'r%i'", 'body contains ("red mini")', "body contains (red and not blue)", "names ends with 'i'",
    )  # fmt: skip
    asked: list[int] = []
    filter_of = boxes._filter
    monkeypatch.setattr(boxes, "_filter", lambda number: asked.append(number) or filter_of(number))
    monkeypatch.setattr(boxes, "_match", lambda batch: pytest.fail("an event went the way of a batch"))
    times = {"made": "2026-05-02", "sold": ["2026-05-03T01:00:00", "2026-05-01"]}
    made = {
        "plain": {"price": 5, "colour": "red"},
        "numbers": {"price": 5, "budget": 2},
        "more numbers": {"price": 4, "budget": 2},
        "times": {**times, "sold": "2026-05-03T01:00:00"},
        "one place": {"spot": [37.8, -122.4], "spots": [[51, 1], [51.5, 0]]},
        "places": {"spot": [37.8, -122.2], "spots": [[51, 1], [53, 0]]},
        "texts": {"title": "red mini", "names": ["a", "mini"], "body": ["a red mini"]},
        "other texts": {"title": "mini red", "names": ["a", "b"], "body": ["mini red", "blue"]},
    }
    for id, attributes in made.items():
        for time in ({}, {"time": "2026-05-01T20:00:00"}):
            raw = {"id": id, "event_type": "offer", "attributes": attributes, **time}
            asked.clear()
            found = ids(boxes, boxes.match_one(raw))
            assert found == by_validate(naive, raw), raw
            assert len(asked) < 5 if id in ("texts", "other texts", "one place", "places", "times") else not asked, raw
