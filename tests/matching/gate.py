"""Merges in the background that wait until they are told to go on, and two matchers that are told the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.strategies.filters import RICH
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.index import segments as segments_module
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.thresholds import Thresholds
from tidings.matching.naive_matcher import NaiveMatcher

EACH_A_SEGMENT = Thresholds(most_waiting=1, large_merge=4)
PRICES = EventBatch.of([Event(f"e{n}", ("car",), (("price", (n,)),)) for n in range(12)], RICH, 100)


class Gate:
    """Lets merges begin, and end when it is opened."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.opened = threading.Event()
        self.entered = 0
        self.merge: Callable[..., Any] = segments_module.merge_tables
        patch.setattr(segments_module, "merge_tables", self._wait)

    def _wait(self, tables: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            self.entered += 1
            assert self.opened.wait(60)
        return self.merge(tables)


def a_pair(numbers: range) -> tuple[BoxMatcher, NaiveMatcher]:
    pair = BoxMatcher(RICH, 1, EACH_A_SEGMENT), NaiveMatcher(RICH)
    add(pair, numbers)
    return pair


def add(pair: tuple[BoxMatcher, NaiveMatcher], numbers: range) -> None:
    for number in numbers:
        for matcher in pair:
            matcher.add(Subscription(f"s{number}", Filter.parse(f"price >= {number}", RICH)), number)


def sizes(matcher: BoxMatcher) -> list[int]:
    return [len(one.segment) for one in matcher._segments]


def answers(matcher: NaiveMatcher | BoxMatcher, batch: EventBatch) -> list[list[str]]:
    result = matcher.match(batch)
    return [sorted(matcher.id(number) for number in result.of(row).tolist()) for row in range(len(batch))]
