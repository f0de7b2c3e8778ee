"""The default algorithm: access paths, threads, merges, growth."""

import numpy as np
import pytest

from tests.matching.gate import answers
from tests.strategies.filters import RICH
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.boxes.box import boxes_of
from tidings.matching.boxes.box_table import BoxTable
from tidings.matching.boxes.bulk import box_table
from tidings.matching.boxes.event_table import EventTable
from tidings.matching.boxes.predicate_table import PredicateTable
from tidings.matching.index.access import ALL, MIXED, PREFIX, ROWS, SUFFIX, choose_groups
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.growth import LoadedFilters
from tidings.matching.index.thresholds import Thresholds
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.schema import json_form
from tidings.schema.growth import AppendNode, grow
from tidings.workloads import WORKLOADS


@pytest.mark.parametrize("equality", [0.0, 0.5, 1.0])
def test_every_access_path_gives_what_a_scan_of_all_boxes_gives(equality: float) -> None:
    workload = WORKLOADS["le-subscribe"](equality=equality)
    table, batch = box_table(workload.subscriptions(60_000)), workload.events(300)
    low = Thresholds(fewest_with_bitmaps=100, large_cluster=1, fewest_in_blocks=200)
    matcher = BoxMatcher(workload.catalog, 1, low)
    matcher.load(table, [str(number) for number in range(60_000)])
    used = set(matcher.settled_segments()[0].index.answer.tolist())
    if equality == 0.5:
        assert used == {ALL, PREFIX, SUFFIX, ROWS, MIXED}
    if equality == 0:
        assert len(matcher.settled_segments()[0].bitmaps.cluster)
    found = matcher.match(batch)
    inside = np.ones((len(batch), len(table)), bool)
    ordinals = EventTable.of(batch, table.dimensions).least
    box = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    for side in range(len(table.dimension)):
        column = ordinals[:, table.dimension[side]]
        inside[:, box[side]] &= (column >= table.low[side]) & (column < table.high[side])
    for row in range(len(batch)):
        assert sorted(found.of(row).tolist()) == table.number[np.flatnonzero(inside[row])].tolist()


def test_threads_and_batch_sizes_do_not_matter() -> None:
    workload = WORKLOADS["thesis"]()
    table, batch = box_table(workload.subscriptions(20_000)), workload.events(3_000)
    one, two = BoxMatcher(workload.catalog, threads=1), BoxMatcher(workload.catalog, threads=2)
    for matcher in (one, two):
        matcher.load(table, [str(number) for number in range(20_000)])
    whole = one.match(batch)
    halves = two.match(batch)
    assert np.array_equal(whole.offsets, halves.offsets)
    assert np.array_equal(whole.numbers, halves.numbers)
    pieces = [one.match(batch.slice(start, start + 700)) for start in range(0, 3_000, 700)]
    assert np.array_equal(np.concatenate([piece.numbers for piece in pieces]), whole.numbers)


def test_merging_drops_what_no_position_can_need() -> None:
    matcher = BoxMatcher(RICH, threads=1)
    for number in range(10):
        matcher.add(Subscription(f"s{number}", Filter.parse(f"price > {number}", RICH)), number)
    for number in range(5):
        matcher.withdraw(f"s{number}", 20 + number)
    matcher.merge(committed=22)
    assert sum(len(segment) for segment in matcher.settled_segments()) == 7  # s0, s1, s2 are closed by then


def test_a_bulk_load_joins_what_was_added_singly() -> None:
    workload = WORKLOADS["le-subscribe"]()
    table = workload.subscriptions(50)
    matcher, naive = BoxMatcher(workload.catalog, threads=1), NaiveMatcher(workload.catalog)
    for number in range(10):
        for one in (matcher, naive):
            one.add(Subscription(f"s{number}", table.filter(number)))
    matcher.load(box_table(table.slice(10, 50), first_number=10), [f"s{n}" for n in range(10, 50)])
    for number in range(10, 50):
        naive.add(Subscription(f"s{number}", table.filter(number)))
    matcher.merge()
    assert answers(matcher, workload.events(100)) == answers(naive, workload.events(100))


def test_recent_events_say_which_equality_is_selective() -> None:
    """Filters with both equalities join the group of one: of price, which has more values, unless events have one."""
    texts = [f"price = {n % 20} and budget = {n % 10}" for n in range(40)]
    texts += [f"price = {n}" for n in range(20)] + [f"budget = {n}" for n in range(10)]
    filters = [Filter.parse(text, RICH) for text in texts]
    table = BoxTable.of([(n, box) for n, one in enumerate(filters) for box in boxes_of(one, RICH)], RICH)
    made = [Event(f"e{n}", ("car",), (("budget", (77,)), ("price", (3,)))) for n in range(100)]
    recent = EventTable.of(EventBatch.of(made, RICH), table.dimensions).least

    def joined(known: np.ndarray | None) -> set[str]:
        groups, group_of = choose_groups(table, known, Thresholds(few=0))
        return {table.dimensions[d].axis.attribute for d in groups[group_of[0]].access}

    assert joined(None) == {"price"}
    assert joined(recent) == {"budget"}


def test_events_with_many_values_do_not_multiply() -> None:
    """256 values in each of eight attributes are 2^64 combinations."""
    schema = json_form.read(
        {
            "domains": [{"name": "d", "kind": "enumerated", "values": [f"v{n}" for n in range(256)]}],
            "attributes": [{"name": f"a{n}", "domain": "d"} for n in range(8)],
            "event_types": [{"name": "t", "attributes": [{"name": f"a{n}", "unique": False} for n in range(8)]}],
        }
    )
    text = " and ".join(f"a{n} contains v0" for n in range(8))
    matcher = BoxMatcher(schema, threads=1)
    for number in range(300):
        matcher.add(Subscription(f"s{number}", Filter.parse(text, schema)))
    every = tuple(f"v{n}" for n in range(256))
    event = Event("e", ("t",), tuple((f"a{n}", every) for n in range(8)))
    assert len(matcher.match(EventBatch.of([event], schema))) == 300


def test_dimensions_beyond_the_first_64_that_are_not_bound() -> None:
    names = [f"a{n:03}" for n in range(80)]
    schema = json_form.read(
        {
            "domains": [{"name": "d", "kind": "numeric"}],
            "attributes": [{"name": name, "domain": "d"} for name in names],
            "event_types": [{"name": "t", "attributes": [{"name": name, "mandatory": False} for name in names]}],
        }
    )
    texts = [f"{name} > 5" for name in names] + [f"a079 < {n}" for n in range(300)]
    matcher = BoxMatcher(schema, threads=1)
    for number, text in enumerate(texts):
        matcher.add(Subscription(f"s{number}", Filter.parse(text, schema)))
    found = matcher.match(EventBatch.of([Event("e", ("t",), (("a001", (7,)),))], schema))
    assert [matcher.id(number) for number in found.numbers] == ["s1"]


def test_a_catalog_that_grew_is_adopted_or_refused_with_the_reason() -> None:
    hierarchy = {"name": "h", "kind": "hierarchical", "tree": {"b": {}, "c": {}}}
    document = {
        "domains": [hierarchy, {"name": "d", "kind": "numeric"}],
        "attributes": [{"name": "h", "domain": "h"}, {"name": "x", "domain": "d"}],
        "event_types": [{"name": "t", "attributes": [{"name": "h", "mandatory": False}, {"name": "x"}]}],
    }
    schema = json_form.read(document)
    wider = grow(schema, AppendNode("h", "a", None))
    numbers = PredicateTable(schema, ("x",), ((),), *_one_predicate(4, 5.0))
    matcher = BoxMatcher(schema, threads=1)
    matcher.load(box_table(numbers), ["loaded"])
    matcher.adopt(wider)
    batch = EventBatch.of([Event("e", ("t",), (("x", (7,)),))], wider)
    assert len(matcher.match(batch)) == 1
    about_h = PredicateTable(schema, ("h",), (("b", "c"),), *_one_predicate(0, 1.0))
    matcher = BoxMatcher(schema, threads=1)
    matcher.load(box_table(about_h), ["loaded"])
    with pytest.raises(LoadedFilters, match="1 filters were loaded as arrays"):
        matcher.adopt(wider)


def _one_predicate(operator: int, value: float) -> tuple[np.ndarray, ...]:
    return np.array([0, 1]), np.array([0], np.int16), np.array([operator], np.int8), np.array([value])
