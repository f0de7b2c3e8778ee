"""The fuzz for slowness runs through, finds what naive finds, and its events are as hostile as they should be."""

from functools import partial

from tests.work import work_of
from tidings.bench.slow_events import catalog, filters, hostile, run_slow_events
from tidings.events import EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.language.predicates import attributes_of
from tidings.matching import choice
from tidings.matching.index.box_matcher import BoxMatcher


def test_its_matches_are_right() -> None:
    schema = catalog()
    bound = [Filter.parse(text, schema) for text in filters(60, seed=2)]
    matcher = BoxMatcher(schema)
    for number, filter in enumerate(bound):
        matcher.add(Subscription(f"s{number}", filter))
    events = [validate(hostile(number, 2, schema), schema) for number in range(12)]
    result = matcher.match(EventBatch.of(events, schema))
    for row, event in enumerate(events):
        bindings = event.bindings()
        expected = [n for n, filter in enumerate(bound) if choice.matches(filter.conjunctions, bindings, schema)]
        assert sorted(result.of(row).tolist()) == expected
    assert len(result) > 50


def test_events_are_hostile() -> None:
    schema = catalog()
    longest = max(len(values) for n in range(50) for values in hostile(n, 1, schema)["attributes"].values())
    assert longest > 500


def test_each_size_has_a_worst_event() -> None:
    found = run_slow_events(40, 10, fewest=3)
    assert {one.way for one in found} == {"match", "match_one"}
    assert all(one.ratio > 0 and one.worst.startswith("e") for one in found)


def test_no_event_costs_more_than_its_values() -> None:
    """Counted, not timed: where Python decides, a few steps and bytes for each value that a predicate tests, or each
    character of a document. Pairs of values would be hundreds of times as many."""
    schema = catalog()
    bound = [Filter.parse(text, schema) for text in filters(24, seed=3)]
    assert sum("*" in filter.text for filter in bound) > 5
    most = 0
    for number in range(3, 15):
        bindings = validate(hostile(number, 3, schema), schema).bindings()
        sizes = {name: len("".join(map(str, of)) if name == "document" else of) for name, of in bindings.items()}
        for filter in bound[number % 2 :: 2]:
            literals = [literal for conjunction in filter.conjunctions for literal in conjunction]
            values = sum(sizes.get(name, 0) for literal in literals for name in attributes_of(literal))
            work = work_of(partial(choice.matches, filter.conjunctions, bindings, schema))
            assert work.steps < 1_000 * (values + 300), (number, filter.text)
            assert work.memory < 500 * (values + 300), (number, filter.text)
            most = max(most, values)
    assert most > 1_000
