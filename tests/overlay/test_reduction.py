"""Reduction of many filters at once: the same as of one after the other, with few full comparisons."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies.filters import RICH, filter_texts
from tidings.language import Filter
from tidings.overlay import reduction
from tidings.overlay.language_filters import LanguageFilters
from tidings.overlay.reduction import Reduction

SLOW = LanguageFilters(RICH)


def parse(text: str) -> Filter:
    return Filter.parse(text, RICH)


def canonical(*texts: str) -> list[str]:
    return sorted({parse(text).text for text in texts})


@settings(max_examples=80, deadline=None)
@given(st.lists(filter_texts(RICH, most=2), min_size=1, max_size=8))
def test_the_quick_reduction_is_the_slow_one(texts: list[str]) -> None:
    some = canonical(*texts)
    quick = Reduction(RICH, parse)
    slow = tuple(one.text for one in SLOW.reduce(map(parse, some)))  # type: ignore[attr-defined]
    assert quick.reduce(some) == slow
    assert quick.reduce(some) == slow  # as remembered
    others = some[::2]
    assert quick.overlapping(some, others) == {
        one.text
        for one in SLOW.overlapping(map(parse, some), [*map(parse, others)])  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize(
    "texts",
    [
        ["price < 10", "price < 20", "price exists", "price != 5"],
        ["event_type exists", "event_type = offer", "price = 1"],
        ["price < 5 or price > 9", "price = 7", "price = 3", "price < 2 or price > 10", "price < 5"],
        ["size = M", "size >= M", "size exists", "size = M and price = 1"],
        ["colour contains 'red'", "colour = 'red'"],
        ["price < 1 and price > 2", "price = 1", "size = M"],
        ["not price exists", "price = 1", "size = M and not price exists"],
    ],
)
def test_kinds_of_covering(texts: list[str]) -> None:
    some = canonical(*texts)
    slow = tuple(one.text for one in SLOW.reduce(map(parse, some)))  # type: ignore[attr-defined]
    assert Reduction(RICH, parse).reduce(some) == slow


class Counted(Reduction):
    """How often two filters were compared in full."""

    compared = 0

    def reduce(self, texts: Any) -> Any:
        found = super().reduce(texts)
        self.compared = reduction._MOST_WORK - self._work
        return found


def test_a_thousand_filters_are_reduced_at_once_and_one_more_costs_little() -> None:
    texts = [f"price between {10 * one} and {10 * one + 5 + one % 3} and size = M" for one in range(1_000)]
    some = canonical(*texts)
    counted, begun = Counted(RICH, parse), time.process_time()
    assert counted.reduce(some) == tuple(some)
    assert time.process_time() - begun < 2  # comparing all in full took 15 s
    assert counted.compared == 0
    assert len(counted.reduce(canonical("price between 5 and 300", *texts))) == 1_001 - 29
    assert counted.compared < 40


def test_comparisons_are_remembered() -> None:
    texts = [f"price != {one}" for one in range(60)]  # no span tells them apart
    counted = Counted(RICH, parse)
    assert len(counted.reduce(canonical(*texts))) == 60
    assert counted.compared == 60 * 59
    assert len(counted.reduce(canonical("price != 100", *texts))) == 61
    assert counted.compared == 2 * 60
    assert len(counted.reduce(canonical(*texts))) == 60
    assert counted.compared == 0


def test_work_is_bounded_and_goes_on_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "_MOST_WORK", 100)
    some = canonical("price exists", *(f"price != {one}" for one in range(20)))
    counted = Counted(RICH, parse)
    for _ in range(10):
        found = counted.reduce(some)
        assert counted.compared <= 100
        assert "price exists" in found
    assert found == ("price exists",)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "_MOST_REMEMBERED", 30)
    quick = Reduction(RICH, parse)
    for place in range(10):
        some = canonical(*(f"price < {place}{one}" for one in range(20)))
        assert len(quick.reduce(some)) == 1
        assert len(quick._answers) <= 40


def test_too_many_alternatives_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "_MOST_ALTERNATIVES", 3)
    some = canonical("price < 5 or size = M", "price < 3 or size = M")
    assert Reduction(RICH, parse).reduce(some) == tuple(some)
