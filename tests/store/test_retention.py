"""The runner: what is kept how long, in small pieces, and when nothing may go."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.services.sqlite import new_store
from tests.store.batches import commit_batch
from tests.store.samples import Clock, publish, with_schema
from tests.store.test_notifications import table
from tests.store.test_removal import NONE, events, letter
from tidings.store import Duplicate, Retention, RetentionDays, Store, Subscribe, Withdraw, retention

DAY = 86_400


@pytest.fixture
def filled(store: Store, clock: Clock) -> Store:
    """Days 0 to 9: an event each, matched, and a dead letter; a subscription that is withdrawn on day 3."""
    with_schema(store).append([Subscribe("s", "price < 100", "ann")])
    for day in range(10):
        store.append([publish(f"e{day}")] + ([Withdraw("s")] if day == 3 else []))
        store.bury([letter(day)])
        clock.tick(DAY)
    matched = [entry.position for entry in store.entries() if entry.kind == "event"][:4]
    commit_batch(store, 1, store.tail(), table(*((position, ["s"]) for position in matched)))
    return store


def test_without_a_limit_everything_stays(filled: Store) -> None:
    assert Retention(filled, RetentionDays()).round() == 0
    assert len(events(filled)) == 10


def test_each_kind_by_its_own_age(filled: Store) -> None:
    days = RetentionDays(events=5, keys=7, dead_letters=2)
    assert Retention(filled, days).round() == 5 + 4 + 1 + 3 + 8
    assert len(events(filled)) == 5
    assert filled.notifications() == []
    assert list(filled.spans()) == []
    assert [one.number for one in filled.dead_letters()] == [9, 10]
    again = filled.append([publish(f"e{day}") for day in range(10)])
    assert [isinstance(outcome, Duplicate) for outcome in again] == [False] * 3 + [True] * 7
    assert Retention(filled, days).round() == 0


def test_in_small_pieces(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_AT_ONCE", 2)
    assert Retention(filled, RetentionDays(events=5)).round() == 5 + 4 + 1


def test_kinds_take_turns(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """None waits until the backlog of another is gone."""
    monkeypatch.setattr(retention, "_AT_ONCE", 1)
    monkeypatch.setattr(retention, "_MOST", 1)
    order: list[str] = []
    for name in ("trim", "forget", "forget_keys", "forget_letters"):
        whole = getattr(filled, name)

        def noted(*given: object, name: str = name, whole: Callable[..., int] = whole, **named: object) -> int:
            count = whole(*given, **named)
            order.extend([name] * bool(count))
            return count

        monkeypatch.setattr(filled, name, noted)
    Retention(filled, RetentionDays(events=5, keys=7, dead_letters=2)).round()
    assert order[:8] == ["trim", "forget", "forget_keys", "forget_letters"] * 2


def test_pieces_grow_while_they_are_quick(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_AT_ONCE", 1)
    asked: list[int] = []
    trim = filled.trim
    monkeypatch.setattr(filled, "trim", lambda before, limit: (asked.append(limit), trim(before, limit=limit))[1])
    monkeypatch.setattr(retention, "_QUICK", 10.0)
    assert Retention(filled, RetentionDays(events=5)).round() == 5 + 4 + 1
    assert asked[:3] == [1, 2, 4]
    asked.clear()
    monkeypatch.setattr(retention, "_SLOW", -1.0)
    assert Retention(filled, RetentionDays(events=1)).round() == 4
    assert set(asked) == {1}


def test_nothing_goes_while_the_clock_is_wrong(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([True, False, False, False, False, False])

    class Reading:
        def __init__(self) -> None:
            self.is_right = next(readings)

        def check(self) -> None:
            """For the removal itself."""

    looks = iter([Reading(), *[Reading() for _ in range(5)]])
    first = next(looks)
    monkeypatch.setattr(filled.clock, "look", lambda: first if not filled.complete_from() > 1 else next(looks))
    assert Retention(filled, RetentionDays(events=5)).round() == 5  # events, and no more
    assert len(filled.notifications()) == 4


def test_two_at_once_remove_what_one_would(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_AT_ONCE", 1)
    with Store.open(filled.url, filled.now) as other:
        removed: list[int] = []
        runners = [
            threading.Thread(target=lambda store=store: removed.append(Retention(store, RetentionDays(5)).round()))
            for store in (filled, other)
        ]
        for runner in runners:
            runner.start()
        for runner in runners:
            runner.join()
    assert sum(removed) == 5 + 4 + 1
    assert filled.complete_from() == events(filled)[0]


def test_it_goes_on_until_it_is_stopped(filled: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_EVERY", 0.01)
    with running(Retention(filled, RetentionDays(events=5))):
        wait_until(lambda: len(events(filled)) == 5)
        clock.tick(DAY)
        wait_until(lambda: len(events(filled)) == 4)


def test_a_store_that_fails_is_tried_again(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(retention, "_EVERY", 0.01)
    path = new_store(tmp_path / "tidings.db")
    with Store.open(f"sqlite:///{path}?timeout=0.01", clock) as store, closing(sqlite3.connect(path)) as other:
        with_schema(store).append([publish("old")])
        commit_batch(store, 1, 6, NONE)
        clock.tick(2 * DAY)
        other.execute("BEGIN IMMEDIATE")
        with running(Retention(store, RetentionDays(events=1))):
            wait_until(lambda: "retention waits for the store" in caplog.text)
            assert events(store) == [6]
            other.rollback()
            wait_until(lambda: not events(store))


@contextmanager
def running(runner: Retention) -> Iterator[None]:
    stopped = threading.Event()
    thread = threading.Thread(target=runner.run, args=(stopped,))
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
