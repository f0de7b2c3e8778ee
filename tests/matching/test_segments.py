"""Merges in the background: the caller goes on, what happens meanwhile counts, what fails is told."""

import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.matching.gate import PRICES, Gate, a_pair, add, answers, sizes
from tests.strategies.filters import RICH, events, filter_texts
from tidings.events import Event, EventBatch
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.naive_matcher import NaiveMatcher


def test_changes_and_batches_go_on_while_segments_are_merged(gate: Gate) -> None:
    pair = a_pair(range(4))
    boxes, naive = pair
    assert sizes(boxes) == [3, 1]  # together four: their merge has begun
    add(pair, range(4, 7))
    for matcher in pair:
        matcher.withdraw("s1", 50)
    assert sizes(boxes)[:2] == [3, 1]
    assert answers(boxes, PRICES) == answers(naive, PRICES)
    gate.opened.set()
    boxes._segments.finish(wait=True)
    assert sizes(boxes)[0] == 4
    assert next(iter(boxes._segments)).closings == 1  # what was withdrawn while it was made
    assert answers(boxes, PRICES) == answers(naive, PRICES)


def test_what_was_merged_is_taken_over_by_the_next_batch(gate: Gate) -> None:
    boxes, naive = a_pair(range(4))
    gate.opened.set()
    pending = boxes._segments._pending
    assert pending is not None
    pending.future.result(60)
    assert sizes(boxes) == [3, 1]
    assert answers(boxes, PRICES) == answers(naive, PRICES)
    assert sizes(boxes) == [4]


def test_only_one_large_merge_runs_at_a_time(gate: Gate) -> None:
    pair = a_pair(range(40))
    assert gate.entered == 1
    gate.opened.set()
    pair[0].merge()
    assert sizes(pair[0]) == [40]
    assert answers(pair[0], PRICES) == answers(pair[1], PRICES)


def test_a_merge_that_fails_is_told_and_changes_nothing(gate: Gate) -> None:
    pair = a_pair(range(4))
    boxes, naive = pair

    def broken(tables: Any) -> Any:
        raise MemoryError("no room for the merge")

    whole, gate.merge = gate.merge, broken
    gate.opened.set()
    pending = boxes._segments._pending
    assert pending is not None
    pending.future.exception(60)
    late = Subscription("late", Filter.parse("price exists", RICH))
    with pytest.raises(MemoryError, match="no room for the merge"):
        boxes.add(late, 9)
    assert not boxes.is_active("late")
    assert answers(boxes, PRICES) == answers(naive, PRICES)
    gate.merge = whole
    assert boxes.add(late, 9) == 4
    boxes.merge()
    assert sizes(boxes) == [5]


def test_a_merge_drops_what_was_closed_by_the_position_told(gate: Gate) -> None:
    pair = a_pair(range(4))
    boxes, naive = pair
    gate.opened.set()
    boxes._segments.finish(wait=True)
    for number in range(3):
        for matcher in pair:
            matcher.withdraw(f"s{number}", 20 + number)
    boxes.forget_before(21)
    boxes._segments.finish(wait=True)
    assert sizes(boxes) == [2]
    assert sorted(boxes.filter_texts()) == [2, 3]
    assert answers(boxes, PRICES) == answers(naive, PRICES)
    boxes.forget_before(5)  # an older position tells nothing new
    boxes.merge()
    assert sizes(boxes) == [2]
    boxes.withdraw("s3", 30)
    boxes.forget_before(30)
    assert sizes(boxes) == []
    assert boxes.filter_texts() == {}
    assert boxes.id(0) == "s0"


def test_a_segment_of_which_little_can_be_dropped_stays(gate: Gate) -> None:
    gate.opened.set()
    boxes, _ = a_pair(range(9))
    boxes.merge()
    (before,) = boxes.settled_segments()
    boxes.withdraw("s0", 20)
    boxes.withdraw("s1", 20)
    boxes.forget_before(20)
    boxes._segments.finish(wait=True)
    assert boxes.settled_segments() == [before]
    boxes.withdraw("s2", 30)
    boxes.forget_before(25)  # only two of the three are closed by then
    boxes._segments.finish(wait=True)
    assert boxes.settled_segments() == [before]


def test_what_only_dropped_boxes_asked_for_is_dropped_too() -> None:
    matcher = BoxMatcher(RICH, threads=1)
    for number in range(40):
        text = f"price in ({', '.join(str(number * 30 + n) for n in range(20))})"
        matcher.add(Subscription(f"s{number}", Filter.parse(text, RICH)))
    matcher.merge()
    (before,) = matcher.settled_segments()
    for number in range(1, 40):
        matcher.withdraw(f"s{number}", 5)
    matcher.merge(committed=5)
    (after,) = matcher.settled_segments()
    assert len(before.index.pool) == 40 * 40
    assert len(after.index.pool) == 40
    assert [len(dimension.keys) for dimension in after.dimensions] == [40]
    event = EventBatch.of([Event("e", ("car",), (("price", (7,)),))], RICH, 9)
    assert answers(matcher, event) == [["s0"]]


ENDING = """
import numpy as np
from tidings.matching.index import segments
from tidings.matching.boxes.bulk import box_table
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.workloads import WORKLOADS
workload = WORKLOADS["le-subscribe"]()
matcher = BoxMatcher(workload.catalog)
for part in range(2):
    first = part * 30_000
    matcher.load(box_table(workload.subscriptions(30_000, start=first), first), [str(first + n) for n in range(30_000)])
matcher.settled_segments()
print(matcher._segments._pending is not None)
"""


def test_a_process_may_end_while_a_merge_runs() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", ENDING], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_no_thread_is_left_when_a_merge_is_done(gate: Gate) -> None:
    gate.opened.set()
    boxes, _ = a_pair(range(40))
    boxes._segments.finish(wait=True)
    boxes.merge()
    for thread in threading.enumerate():
        if thread.name.startswith("tidings-merge"):
            thread.join(60)
            assert not thread.is_alive()
    assert np.array_equal(np.sort(boxes.settled_segments()[0].index.number), np.arange(40))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_what_is_left_after_dropping_matches_as_before(data: st.DataObject) -> None:
    texts = data.draw(st.lists(filter_texts(RICH, most=3), min_size=2, max_size=8))
    pair = BoxMatcher(RICH, threads=1), NaiveMatcher(RICH)
    gone = data.draw(st.sets(st.integers(0, len(texts) - 1), max_size=len(texts)))
    for matcher in pair:
        for number, text in enumerate(texts):
            matcher.add(Subscription(f"s{number}", Filter.parse(text, RICH)))
        for number in gone:
            matcher.withdraw(f"s{number}", 5)
    pair[0].merge(committed=5)
    made = data.draw(st.lists(events(RICH), min_size=1, max_size=6))
    batch = EventBatch.of(made, RICH, 5)
    assert answers(pair[0], batch) == answers(pair[1], batch)
    left = {number for segment in pair[0].settled_segments() for number in segment.index.number.tolist()}
    assert left.isdisjoint(gone)
