"""The default algorithm: changes, merges, growth, saving and reopening in any order give what naive gives."""

import tempfile
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.matching.filter_pool import LOW
from tests.matching.gate import answers
from tests.strategies.filters import RICH, events, filter_texts
from tidings.events import EventBatch, write_event
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.thresholds import Thresholds
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.schema.growth import AppendNode, AppendValue, grow

STEPS = st.sampled_from(
    ("add", "add", "add", "add many", "withdraw", "match", "match one", "merge", "forget", "wait", "save", "reopen",
     "grow")
)  # fmt: skip


class Interleaving:
    """The default algorithm and the naive one, told the same."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], folder: Path, low: Thresholds) -> None:
        self.draw, self.folder, self.low = draw, folder, low
        self.naive, self.boxes = NaiveMatcher(RICH), BoxMatcher(RICH, 1, low)
        self.active: list[str] = []
        self.position = self.committed = self.made = 0
        self.saved: Path | None = None

    def take(self, step: str) -> None:
        self.position += self.draw(st.integers(0, 2))
        match step:
            case "add":
                subscription, at = self._subscription()
                self.boxes.add(subscription, at)
            case "add many":
                self.boxes.add_many([self._subscription() for _ in range(self.draw(st.integers(0, 5)))])
            case "withdraw" if self.active:
                gone = self.active.pop(self.draw(st.integers(0, len(self.active) - 1)))
                self.naive.withdraw(gone, self.position)
                self.boxes.withdraw(gone, self.position)
            case "match":
                made = self.draw(st.lists(events(self.naive.catalog), min_size=1, max_size=4))
                positions = st.integers(self.committed, self.position + 2)
                batch = EventBatch.of(made, self.naive.catalog, [self.draw(positions) for _ in made])
                assert answers(self.boxes, batch) == answers(self.naive, batch)
            case "match one":
                made = self.draw(events(self.naive.catalog))
                at = self.draw(st.integers(self.committed, self.position + 2))
                for form in (made, write_event(made)):
                    found = [self.boxes.id(number) for number in self.boxes.match_one(form, at).tolist()]
                    assert [sorted(found)] == answers(self.naive, EventBatch.of([made], self.naive.catalog, at))
            case "merge":
                self._commit()
                self.boxes.merge(self.committed)
            case "forget":
                self._commit()
                self.boxes.forget_before(self.committed)
            case "wait" if self.boxes._segments._pending is not None:
                wait([self.boxes._segments._pending.future])
            case "save" | "reopen":
                base = self.draw(st.sampled_from((self.saved, self.saved, None)))
                self.saved = self.folder / f"plan-{self._next()}"
                save_plan(self.boxes, self.saved, base)
                if step == "reopen":
                    self.boxes = open_plan(self.saved, 1, self.low)
            case "grow":
                catalog = self.naive.catalog
                parents = catalog.domain_of("category").hierarchy.nodes  # type: ignore[union-attr]
                name = f"new{self._next()}"
                node = AppendNode("categories", name, self.draw(st.none() | st.sampled_from(parents)))
                value = AppendValue(self.draw(st.sampled_from(("sizes", "colours"))), name)
                grown = grow(catalog, self.draw(st.sampled_from((node, value))))
                self.naive.adopt(grown)
                self.boxes.adopt(grown)

    def _subscription(self) -> tuple[Subscription, int]:
        catalog = self.naive.catalog
        self.active.append(f"s{self._next()}")
        subscription = Subscription(self.active[-1], Filter.parse(self.draw(filter_texts(catalog)), catalog))
        self.naive.add(subscription, self.position)
        return subscription, self.position

    def _commit(self) -> None:
        self.committed = self.draw(st.integers(self.committed, self.position))

    def _next(self) -> int:
        self.made += 1
        return self.made


def interleave(data: st.DataObject, most_waiting: int, large: int) -> None:
    # Few filters make many segments, few boxes are merged in the background, and few rows are a chunk.
    low = replace(LOW, most_waiting=most_waiting, large_merge=large, alike=4, room=1 << 10)
    with tempfile.TemporaryDirectory() as folder:
        both = Interleaving(data.draw, Path(folder), low)
        for step in data.draw(st.lists(STEPS, min_size=4, max_size=20)):
            both.take(step)
        both.take("match")
        both.take("match one")


@settings(max_examples=40, deadline=None)
@given(data=st.data(), most_waiting=st.integers(1, 4), large=st.integers(1, 8))
def test_any_order_of_changes_merges_and_savings_equals_naive(
    data: st.DataObject, most_waiting: int, large: int
) -> None:
    interleave(data, most_waiting, large)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(data=st.data(), most_waiting=st.integers(1, 4), large=st.integers(1, 8))
def test_many_orders_of_changes_equal_naive(data: st.DataObject, most_waiting: int, large: int) -> None:
    interleave(data, most_waiting, large)
