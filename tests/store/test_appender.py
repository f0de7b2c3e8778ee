"""Group commit: everybody gets his own outcomes, whatever stood beside him in the group."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.store.samples import START, positions, publish, with_schema
from tidings.store import Accepted, Appender, AppenderClosed, Duplicate, Outcome, Refused, Store, StoreFailed, Subscribe


def test_the_outcomes_are_those_of_the_store(store: Store) -> None:
    with_schema(store)
    with Appender(store) as appender:
        assert appender.submit([publish("e1"), publish("e1")]).result() == [Accepted(6, START), Duplicate(6)]
        assert appender.submit([]).result() == []


def test_what_waits_is_committed_together(store: Store) -> None:
    with_schema(store)
    groups: list[int] = []
    append = store.append
    first_is_in, go_on = threading.Event(), threading.Event()

    def slow(drafts: Any) -> list[Outcome]:
        first_is_in.set()
        go_on.wait()
        groups.append(len(drafts))
        return append(drafts)

    store.append = slow  # type: ignore[method-assign]
    with Appender(store) as appender:
        futures = [appender.submit([publish("e0")])]
        first_is_in.wait()
        futures += [appender.submit([publish(f"e{number}")]) for number in range(1, 100)]
        go_on.set()
        assert [future.result()[0] for future in futures] == [Accepted(6 + number, START) for number in range(100)]
    assert groups == [1, 99]


def test_many_threads(store: Store) -> None:
    with_schema(store)

    def run(thread: int) -> list[Outcome]:
        # Two threads each publish the same events.
        return [
            outcome
            for number in range(50)
            for outcome in appender.submit([publish(f"{thread // 2}-{number}"), publish("", "wrong")]).result()
        ]

    with Appender(store) as appender, ThreadPoolExecutor(8) as pool:
        outcomes = [outcome for outcomes in pool.map(run, range(8)) for outcome in outcomes]
    accepted = [outcome.position for outcome in outcomes if isinstance(outcome, Accepted)]
    duplicates = [outcome.position for outcome in outcomes if isinstance(outcome, Duplicate)]
    assert sorted(accepted) == sorted(duplicates) == list(range(6, 206))
    assert sum(isinstance(outcome, Refused) for outcome in outcomes) == 400


def test_closing_finishes_what_was_submitted(store: Store) -> None:
    with_schema(store)
    appender = Appender(store)
    futures = [appender.submit([publish(f"e{number}")]) for number in range(200)]
    appender.close()
    assert all(future.done() for future in futures)
    assert store.tail() == 205
    with pytest.raises(AppenderClosed, match="takes nothing more"):
        appender.submit([publish("late")])
    appender.close()


def test_a_failed_transaction_is_told_to_all_who_wait_and_the_next_goes_on(store: Store) -> None:
    with_schema(store)
    append = store.append
    failures = [StoreFailed("here", "the disk burns")]

    def failing(drafts: Any) -> list[Outcome]:
        if failures:
            raise failures.pop()
        return append(drafts)

    store.append = failing  # type: ignore[method-assign]
    with Appender(store) as appender:
        future = appender.submit([publish("e1")])
        with pytest.raises(StoreFailed, match="the disk burns"):
            future.result()
        assert positions(appender.submit([publish("e1")]).result()) == [6]


def test_a_refused_draft_does_not_disturb_the_others_of_its_group(store: Store) -> None:
    with_schema(store)
    with Appender(store) as appender:
        futures: list[Future[list[Outcome]]] = []
        for number in range(20):
            futures.append(appender.submit([Subscribe("s", "price <" if number % 2 else "price < 3")]))
        outcomes = [future.result()[0] for future in futures]
    assert positions(outcomes) == [6] + [None] * 19


def test_what_is_no_draft_is_told_to_whoever_submits_it(store: Store) -> None:
    with Appender(store) as appender:
        with pytest.raises(TypeError, match="is not a draft"):
            appender.submit(["x"])  # type: ignore[list-item]
        assert appender.submit([]).result() == []


def test_a_cancelled_submission_is_not_appended(store: Store) -> None:
    with_schema(store)
    append = store.append
    first_is_in, go_on = threading.Event(), threading.Event()

    def slow(drafts: Any) -> list[Outcome]:
        first_is_in.set()
        go_on.wait()
        return append(drafts)

    store.append = slow  # type: ignore[method-assign]
    with Appender(store) as appender:
        appender.submit([publish("e1")])
        first_is_in.wait()
        cancelled, kept = appender.submit([publish("e2")]), appender.submit([publish("e3")])
        assert cancelled.cancel()
        go_on.set()
        assert positions(kept.result()) == [7]
    assert store.tail() == 7


def test_a_large_backlog_is_cut_between_submissions(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.store.appender._MOST_DRAFTS", 10)
    with_schema(store)
    with Appender(store) as appender:
        sizes = (4, 25, 7, 7, 1)
        futures = [appender.submit([publish(f"{i}-{j}") for j in range(size)]) for i, size in enumerate(sizes)]
        found = [positions(future.result()) for future in futures]
    assert [len(some) for some in found] == list(sizes)
    assert [position for some in found for position in some] == list(range(6, 6 + sum(sizes)))
