"""Reduction by covering, merging, and the filters of the language under them."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies.filters import RICH, events, filter_texts
from tidings.language import Filter
from tidings.overlay.filters import Filters
from tidings.overlay.language_filters import LanguageFilters
from tidings.overlay.simulation.ranges import Range, Ranges, SlowRanges

VALUES = st.integers(0, 12)
RANGES = st.builds(lambda one, other: Range(min(one, other), max(one, other)), VALUES, VALUES)
SETS = st.lists(RANGES, max_size=12)


class Forgetful(SlowRanges):
    """Does not see every covering: whether it sees one is arbitrary, but always the same."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed

    def covers(self, wider: object, narrower: object) -> bool:
        return super().covers(wider, narrower) and hash((wider, narrower, self.seed)) % 3 > 0  # type: ignore[arg-type]


@given(SETS, st.randoms(), st.integers(0, 99))
def test_reduction_is_deterministic_and_idempotent(ranges: list[Range], random: object, seed: int) -> None:
    for filters in (SlowRanges(), Forgetful(seed)):
        reduced = filters.reduce(ranges)
        random.shuffle(ranges)  # type: ignore[attr-defined]
        assert filters.reduce(ranges) == reduced
        assert filters.reduce(reduced) == reduced
        assert all(filters.selector(reduced)(value) == filters.selector(ranges)(value) for value in range(14))


@given(SETS)
def test_the_quick_reduction_is_the_slow_one(ranges: list[Range]) -> None:
    quick, slow = Ranges(), SlowRanges()
    assert quick.reduce(ranges) == slow.reduce(ranges)
    assert all(quick.summary(ranges, limit) == slow.summary(ranges, limit) for limit in range(1, 6))
    for value in range(14):
        assert quick.selector(ranges)(value) == slow.selector(ranges)(value)


def test_a_circle_of_coverings_is_not_dropped_whole() -> None:
    class Circle(SlowRanges):
        def covers(self, wider: object, narrower: object) -> bool:
            return (wider, narrower) in ((a, b), (b, c), (c, a))

    a, b, c = Range(0, 1), Range(0, 2), Range(0, 3)
    assert Circle().reduce([a, b, c]) != ()


@given(SETS, st.integers(1, 5))
def test_a_summary_is_short_and_matches_at_least_as_much(ranges: list[Range], limit: int) -> None:
    filters = Ranges()
    summary = filters.summary(ranges, limit)
    assert len(summary) <= limit
    assert filters.summary(summary, limit) == summary
    assert all(filters.selector(summary)(value) for value in range(14) if filters.selector(ranges)(value))
    if len(filters.reduce(ranges)) <= limit:
        assert summary == filters.reduce(ranges)


def test_a_summary_merges_as_few_as_will_do() -> None:
    apart = [Range(10 * place, 10 * place + 1) for place in range(6)]
    assert Ranges().summary(apart, 5) == (*apart[:4], Range(40, 51))


LANGUAGE = LanguageFilters(RICH)


def parsed(*texts: str) -> list[Filter]:
    return [Filter.parse(text, RICH) for text in texts]


def test_filters_of_the_language_are_reduced() -> None:
    filters = parsed("price < 10", "price < 20", "price < 20 and colour = blue", "price <= 20", "size = M")
    assert LANGUAGE.reduce(filters) == tuple(parsed("price <= 20", "size = M"))


@pytest.mark.parametrize(
    ("texts", "wider"),
    [
        (["price between 1 and 2", "price between 5 and 9 and size = M"], "price >= 1 and price < 9.000000000000002"),
        (["price > 3", "price = 1"], "price >= 1"),
        (["colour = blue", "colour = 'red' and price = 1"], "colour exists"),
        (["price = 1", "size = M"], "event_type exists"),
        (["price = 1"], "price = 1"),
    ],
)
def test_filters_of_the_language_are_widened(texts: list[str], wider: str) -> None:
    assert LANGUAGE.text(LANGUAGE.widen(parsed(*texts))) == Filter.parse(wider, RICH).text


@settings(max_examples=60)
@given(st.data())
def test_a_widened_filter_matches_what_its_parts_match(data: st.DataObject) -> None:
    filters = [Filter.parse(data.draw(filter_texts(RICH, most=2)), RICH) for _ in range(3)]
    wide = LANGUAGE.widen(filters)
    found = [event.bindings() for event in data.draw(st.lists(events(RICH), min_size=1, max_size=3))]
    for one, event in product(filters, found):
        if LANGUAGE.matches(one, event):
            assert LANGUAGE.matches(wide, event), (wide.text, one.text)  # type: ignore[attr-defined]
        assert LANGUAGE.matches(LANGUAGE.everything, event)


def test_every_kind_of_filters_has_all_that_is_asked() -> None:
    for kind in (LANGUAGE, Ranges()):
        assert isinstance(kind, Filters)
        assert kind.summary([kind.everything, kind.everything], 1) == (kind.everything,)
