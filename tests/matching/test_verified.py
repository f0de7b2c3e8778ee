"""A predicate that no interval can say is evaluated on the events that satisfy the rest of its filter: every algorithm
equals naive, also after saving, opening and merging."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.matching.gate import EACH_A_SEGMENT
from tests.matching.test_every_algorithm import OTHERS, answers
from tests.strategies.divisible import divisible
from tests.strategies.filters import RICH, events, filter_texts
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.algorithm import Matches
from tidings.matching.algorithms import make_matcher
from tidings.matching.boxes.box import Verify, boxes_of
from tidings.matching.explain import explain
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.matching.verified import verified


@pytest.fixture(scope="module", autouse=True)
def with_divisible() -> Iterator[None]:
    with divisible():
        yield


def event(id: str, **prices: tuple[int, ...]) -> Event:
    return Event(id, ("offer",), tuple(prices.items()))


EVENTS = EventBatch.of(
    [
        event("e0", prices=(3,)),
        event("e1", prices=(4,)),
        event("e2", prices=(3, 25)),
        event("e3", prices=(27,)),
        event("e4", price=(6,), budget=(5,)),
        event("e5", prices=(6, 7), price=(7,)),
    ],
    RICH,
)
TEXTS = {
    "prices divides 3": [0, 2, 3, 5],
    "prices not divides 3": [1, 2, 5],
    "prices divides 3 and prices > 20": [3],  # e2: 3 divides, but 25 is above 20
    "prices divides 3 or price divides 3": [0, 2, 3, 4, 5],
    "not (prices divides 3 or price > 5)": [],
    "price divides 2 and price > budget": [4],
    "prices divides 3 and price exists": [5],
    "prices divides 3 and not (price exists)": [0, 2, 3],
    "prices contains 6 and prices divides 7": [5],
    "names contains all 'a b' and prices divides 3": [],
}


@pytest.mark.parametrize("name", ["naive", *OTHERS])
def test_every_algorithm_gives_the_same_answers(name: str) -> None:
    matcher = make_matcher(name, RICH)
    for text in TEXTS:
        matcher.add(Subscription(text, Filter.parse(text, RICH)))
    found = answers(matcher, EVENTS)
    assert {text: [row for row in range(6) if text in found[row]] for text in TEXTS} == TEXTS


predicate = st.sampled_from(("price", "prices", "budget")).flatmap(
    lambda name: st.sampled_from((f"{name} divides 2", f"{name} not divides 5", f"not ({name} divides 1)"))
)
joined = st.builds("{} {} ({})".format, predicate, st.sampled_from(("and", "or")), filter_texts(RICH, 3))


@pytest.mark.parametrize("name", OTHERS)
@settings(max_examples=15, deadline=None)
@given(texts=st.lists(joined, min_size=1, max_size=6), made=st.lists(events(RICH), min_size=1, max_size=4))
def test_equals_naive(name: str, texts: list[str], made: list[Event]) -> None:
    naive, other = make_matcher("naive", RICH), make_matcher(name, RICH)
    for number, text in enumerate(texts):
        subscription = Subscription(f"s{number}", Filter.parse(text, RICH))
        naive.add(subscription)
        other.add(subscription)
    batch = EventBatch.of(made, RICH)
    assert answers(other, batch) == answers(naive, batch)


def test_the_box_says_that_the_filter_must_be_evaluated() -> None:
    (box,) = boxes_of(Filter.parse("price divides 3 and price < 5 and prices exists", RICH), RICH)
    assert box.residuals == (Verify(),)
    (box,) = boxes_of(Filter.parse("price < 5", RICH), RICH)
    assert box.residuals == ()


def test_a_comparison_says_that_its_attributes_are_bound() -> None:
    for text in ("size = 'S' and price < budget", "size = 'S' and price < 2 * budget + 1"):
        (box,) = boxes_of(Filter.parse(text, RICH), RICH)
        assert [side.axis.attribute for side in box.sides] == ["size"]
    (box,) = boxes_of(Filter.parse("price < budget", RICH), RICH)  # else nothing would lead to it
    assert {side.axis.attribute for side in box.sides} == {"price", "budget"}


def test_it_survives_saving_opening_and_merging(tmp_path: Path) -> None:
    matcher = BoxMatcher(RICH, threads=1, thresholds=EACH_A_SEGMENT)
    for number, text in enumerate(TEXTS):
        matcher.add(Subscription(text, Filter.parse(text, RICH)))
        if number % 3 == 2:
            save_plan(matcher, tmp_path / f"plan{number}")
            matcher = open_plan(tmp_path / f"plan{number}", threads=1, thresholds=EACH_A_SEGMENT)
    matcher.merge()
    found = answers(matcher, EVENTS)
    assert {text: [row for row in range(6) if text in found[row]] for text in TEXTS} == TEXTS


def test_explain_knows_it() -> None:
    explained = explain(Filter.parse("prices divides 3 and prices > 20", RICH), event("e2", prices=(3, 25)), RICH)
    assert not explained.matches
    assert [(one.predicate, one.holds) for one in explained.alternatives[0].findings] == [
        ("prices divides 3", True),
        ("prices > 20", True),
    ]
    assert "no one value of prices" in explained.alternatives[0].note


class Counted(np.ndarray[tuple[int], np.dtype[np.int32]]):
    """An array that knows how many of its numbers became Python objects."""

    made: ClassVar[int] = 0

    def tolist(self) -> list[int]:
        Counted.made += self.size
        return super().tolist()

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())


def test_only_what_must_be_verified_becomes_python_objects() -> None:
    """One event with a doubt had a set made of all its matches: 1.5 GB for six million."""
    numbers = np.array([*range(50_000), 50_000, 7, 50_000, 50_001, 3], np.int32)
    verify = np.arange(len(numbers)) >= 50_000
    verify[-1] = False
    divides, no_match = (Filter.parse(f"prices divides {n}", RICH) for n in (3, 5))
    asked = []

    def filter_of(number: int) -> Filter:
        asked.append(number)
        return divides if number == 50_000 else no_match

    Counted.made = 0
    found = verified(
        Matches(np.array([0, len(numbers) - 1, len(numbers)]), numbers.view(Counted)), verify, EVENTS, filter_of
    )
    assert asked == [50_000, 50_001]  # each once, and not 7, which matches anyway
    assert found.offsets.tolist() == [0, 50_001, 50_002]
    assert np.asarray(found.numbers)[-2:].tolist() == [50_000, 3]
    assert Counted.made < 100
