"""What is made one step ahead comes in order, and its end and its errors with it."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from tidings.feeds import UnreadableFeed
from tidings.feeds.sources.ahead import ahead


def threads() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name == "ahead"]


def test_everything_comes_in_order_from_one_step_ahead() -> None:
    made: list[int] = []

    def work() -> Iterator[int]:
        for number in range(5):
            made.append(number)
            yield number

    found = ahead(work())
    assert next(found) == 0
    until = time.monotonic() + 30
    while len(made) < 3 and time.monotonic() < until:
        time.sleep(0.01)
    assert made == [0, 1, 2]  # one waits, and one is in the hand of whoever makes them
    assert list(found) == [1, 2, 3, 4]
    assert threads() == []
    assert list(ahead(iter(()))) == []


def test_an_error_comes_after_what_was_made_before() -> None:
    def work() -> Iterator[int | None]:
        yield 1
        yield None
        raise UnreadableFeed("there", "it is broken")

    found = ahead(work())
    taken: list[int | None] = []
    with pytest.raises(UnreadableFeed, match="it is broken"):
        taken.extend(found)
    assert taken == [1, None]
    assert threads() == []


def test_whoever_stops_in_the_middle_leaves_nothing_behind() -> None:
    closed = threading.Event()

    def work() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    with closing(ahead(work())) as found:
        assert next(found) == 1
    assert closed.is_set()
    assert threads() == []
