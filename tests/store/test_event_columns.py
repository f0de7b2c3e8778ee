"""Copies of events by column: kept once, removed with the events, on both databases."""

import pytest

from tests.store.batches import commit_batch
from tests.store.samples import SCHEMA, publish
from tests.store.test_notifications import table
from tidings.store import Store
from tidings.store.journal import event_columns


def test_a_copy_is_kept_once_and_read_by_name(store: Store) -> None:
    store.keep_columns(3, {"": b"fixed", "price": b"\x00\x01", "brand": b"b"})
    store.keep_columns(3, {"": b"later", "price": b"later"})
    store.keep_columns(5, {"": b"none"})
    assert store.copied_columns(0, 9, ["price", "colour"]) == {
        3: {"": b"fixed", "price": b"\x00\x01"},
        5: {"": b"none"},
    }
    assert store.copied_columns(4, 4, ["price"]) == {}
    assert store.copied_stretches(0, 4) == {3}


def test_retention_removes_copies_of_stretches_without_events(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_columns, "STRETCH", 10)
    store.append([*SCHEMA, *(publish(f"e{n}") for n in range(40))])
    for stretch in range(store.tail() // 10):
        store.keep_columns(stretch, {"": b"x", "price": b"y"})
    commit_batch(store, 1, store.tail(), table())
    removed = store.trim(most_bytes=0, needed_from=26)
    assert removed > 5
    assert store.complete_from() == 26
    assert store.copied_stretches(0, 9) == {*range(2, store.tail() // 10)}  # the third has events from 26 on
