"""Copies by column that are made ahead, in quiet moments: all that can be, once, and the newest first."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pipeline.market import Market, opening
from tests.pipeline.test_history import Hours, commit
from tidings.language import Filter
from tidings.pipeline.batch import copies, query
from tidings.pipeline.batch.copies import Copies
from tidings.pipeline.batch.query import matching
from tidings.store import Store
from tidings.store.journal import event_columns

_STRETCH = 32


@pytest.fixture(autouse=True)
def _short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_columns, "STRETCH", _STRETCH)
    monkeypatch.setattr(query, "STRETCH", _STRETCH)
    monkeypatch.setattr(copies, "_QUIET", 10)
    monkeypatch.setattr(copies, "_REST", 0.0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "tidings.db", Hours()) as made:
        made.append([*opening(), *Market(seed=3).drafts(200, changes=0.2)])
        yield made


def whole(store: Store) -> int:
    return store.tail() // _STRETCH


def test_the_first_query_finds_everything_copied(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    filter = Filter.parse("price < 30", store.catalog())
    expected = [row for found in matching(store, filter, 0, store.tail()) for row in found.to_pylist()]
    with store.database.adding() as connection:
        event_columns.remove_before(connection, store.tail())
    ahead = Copies(store)
    assert (ahead.round(), store.copied_stretches(0, 99)) == (0, set())  # nobody knows yet whether it is quiet
    assert ahead.round() == whole(store)
    assert store.copied_stretches(0, 99) == {*range(whole(store))}
    assert ahead.round() == 0
    monkeypatch.setattr(query, "_whole_stretch", lambda *_: pytest.fail("a stretch was read from the journal"))
    assert [row for found in matching(store, filter, 0, store.tail()) for row in found.to_pylist()] == expected


def test_it_waits_while_events_come_in(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = Copies(store)
    ahead.round()
    store.append([*Market(seed=4, source="other").drafts(50, changes=0)])
    assert ahead.round() == 0
    order: list[int] = []

    def copied(store: Store, stretch: int) -> bool:
        order.append(stretch)
        if len(order) == 2:
            store.append([*Market(seed=5, source="third").drafts(50, changes=0)])
        return True

    monkeypatch.setattr(copies, "copy_stretch", copied)
    newest = whole(store) - 1
    assert ahead.round() == 2
    assert order == [newest, newest - 1]


def test_what_cannot_be_copied_is_tried_once(store: Store, tmp_path: Path) -> None:
    broken = next(entry.position for entry in store.entries(_STRETCH + 1) if entry.kind == "event")
    with sqlite3.connect(tmp_path / "tidings.db") as database:
        database.execute("UPDATE journal SET body = '{' WHERE position = ?", (broken,))
    database.close()
    ahead = Copies(store)
    ahead.round()
    assert ahead.round() == whole(store) - 1
    assert (broken - 1) // _STRETCH not in store.copied_stretches(0, 99)
    assert ahead._missing() == []


def test_removed_stretches_are_not_copied_again(store: Store) -> None:
    commit(store, set())
    assert store.trim(most_bytes=0, needed_from=100) > 50
    ahead = Copies(store)
    ahead.round()
    assert ahead.round() == whole(store) - 99 // _STRETCH
    assert min(store.copied_stretches(0, 99)) == 99 // _STRETCH


def test_it_ends_when_it_is_asked_to(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_EVERY", 0.01)
    stopped = threading.Event()
    thread = threading.Thread(target=Copies(store).run, args=(stopped,))
    thread.start()
    while store.copied_stretches(0, 99) != {*range(whole(store))}:
        assert thread.is_alive()
    stopped.set()
    thread.join(30)
    assert not thread.is_alive()
