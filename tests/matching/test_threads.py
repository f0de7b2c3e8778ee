"""How many threads a batch gets: what was quickest when it was tried, or the number that was asked for."""

import threading

import numpy as np

from tests.matching.filter_pool import LOW
from tidings.matching.boxes.bulk import box_table
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.threads import Threads
from tidings.workloads import WORKLOADS


def used(threads: Threads, seconds: dict[int, float], batches: int, boxes: int = 1000) -> list[int]:
    """The numbers of threads that these many batches get, when each takes so long."""
    numbers = []
    for _ in range(batches):
        numbers.append(threads.number(boxes))
        threads.note(numbers[-1], 100, seconds[numbers[-1]])
    return numbers


def test_each_number_is_tried_in_turn_and_the_quickest_stays() -> None:
    assert used(Threads(most=2), {1: 1.0, 2: 0.6}, 9) == [1, 2, 1, 2, 1, 2, 2, 2, 2]
    assert used(Threads(most=2), {1: 1.0, 2: 1.3}, 9) == [1, 2, 1, 2, 1, 2, 1, 1, 1]
    assert used(Threads(most=6), {1: 1.0, 2: 0.6, 4: 0.4}, 11)[-2:] == [4, 4]


def test_more_threads_that_gain_hardly_anything_are_not_used() -> None:
    assert used(Threads(most=2), {1: 1.0, 2: 0.97}, 7)[-1] == 1


def test_one_disturbed_batch_decides_nothing() -> None:
    threads = Threads(most=2)
    for seconds in (9.0, 0.6, 1.0, 0.6, 1.0, 5.0):
        threads.note(threads.number(1000), 100, seconds)
    assert threads.number(1000) == 2


def test_it_is_measured_again_when_the_boxes_doubled_or_the_choice_is_old() -> None:
    threads = Threads(most=2)
    assert used(threads, {1: 1.0, 2: 0.5}, 7)[-1] == 2
    assert used(threads, {1: 1.0, 2: 2.0}, 3, boxes=1900) == [2, 2, 2]
    assert used(threads, {1: 1.0, 2: 2.0}, 7, boxes=2100) == [1, 2, 1, 2, 1, 2, 1]
    assert used(threads, {1: 1.0, 2: 0.5}, 7, boxes=1000) == [1, 2, 1, 2, 1, 2, 2]
    assert used(threads, {1: 1.0, 2: 0.5}, 995)[-3:] == [2, 1, 2]


def test_a_number_that_was_asked_for_is_used() -> None:
    assert used(Threads(3), {3: 1.0}, 8) == [3] * 8


def test_parts_come_back_in_order_and_one_pool_serves_all_batches() -> None:
    threads = Threads(2)
    names = set()

    def part(first: int, last: int) -> tuple[int, int]:
        names.add(threading.current_thread().name)
        return first, last

    for _ in range(50):
        assert threads.run(part, [(0, 3), (3, 5), (5, 6)]) == [(0, 3), (3, 5), (5, 6)]
    assert len(names - {threading.current_thread().name}) <= 2


def test_a_matcher_that_chooses_gives_what_one_thread_gives() -> None:
    workload = WORKLOADS["thesis"]()
    table, batch = box_table(workload.subscriptions(2_000)), workload.events(600)
    one, chosen = BoxMatcher(workload.catalog, 1), BoxMatcher(workload.catalog, thresholds=LOW)
    for matcher in (one, chosen):
        matcher.load(table, [str(number) for number in range(2_000)])
    expected = one.match(batch)
    for _ in range(8):
        found = chosen.match(batch)
        assert np.array_equal(found.offsets, expected.offsets)
        for event in range(len(batch)):
            assert np.array_equal(np.sort(found.of(event)), np.sort(expected.of(event)))
