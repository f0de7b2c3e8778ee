"""Ticks go with the events among which they stand: nobody reads them once every query has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.services.sqlite import new_store
from tests.store.samples import Clock, projections, publish, with_schema
from tidings.store import Store, Tick, export_journal, import_journal


@pytest.fixture
def ticking(store: Store, clock: Clock) -> Store:
    """At 6 an event, two ticks, an event, two ticks; then, a minute later, a tick and an event."""
    with_schema(store)
    store.append([publish("a"), Tick(), Tick(), publish("b"), Tick(), Tick()])
    clock.tick(60)
    store.append([Tick(), publish("c")])
    return store


def kinds(store: Store) -> list[str]:
    return [entry.kind for entry in store.entries() if entry.kind != "schema"]


def test_they_go_with_the_events_of_their_time(ticking: Store, clock: Clock) -> None:
    assert ticking.trim(before=clock.time) == 0, "not before every query has read them"
    ticking.commit(1, ticking.tail(), [])
    mark = ticking.watermark_at(ticking.tail())
    assert ticking.trim(before=clock.time, limit=3) == 1
    assert kinds(ticking) == ["event", "tick", "tick", "tick", "event"]
    assert ticking.trim(before=clock.time) == 1
    assert kinds(ticking) == ["tick", "event"]
    assert ticking.trim(before=clock.time) == 0
    assert ticking.watermark_at(ticking.tail()) == mark


def test_by_size_only_those_before_a_removed_event_go(ticking: Store) -> None:
    ticking.commit(1, ticking.tail(), [])
    size = ticking.figures().event_bytes
    assert ticking.trim(most_bytes=size - 1) == 1
    assert kinds(ticking) == ["tick", "tick", "event", "tick", "tick", "tick", "event"]
    assert ticking.trim(most_bytes=size - size // 3 - 1) == 1
    assert kinds(ticking) == ["tick", "tick", "tick", "event"]


def test_a_journal_without_them_is_copied(ticking: Store, clock: Clock, tmp_path: Path) -> None:
    ticking.commit(1, ticking.tail(), [])
    ticking.trim(before=clock.time)
    export_journal(ticking, tmp_path / "journal.jsonl")
    with Store.open(new_store(tmp_path / "copy.db", id="another")) as copy:
        import_journal(tmp_path / "journal.jsonl", copy)
        assert projections(copy) == projections(ticking)
        assert (copy.complete_from(), copy.tail()) == (ticking.complete_from(), ticking.tail())
