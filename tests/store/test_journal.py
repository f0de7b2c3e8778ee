"""Reading: entries, changes, events as Arrow rows, places by time."""

import json

import pyarrow as pa
import pytest

from tests.store.samples import AUDI, START, Clock, positions, publish, with_schema
from tidings.schema import Instant
from tidings.store import Pause, Store, Subscribe
from tidings.store.journal import journal


@pytest.fixture
def filled(store: Store) -> Store:
    """Schema 1-5, events 6-8, a subscription 9, events 10-11, a schema change 12, event 13."""
    with_schema(store).append([publish(f"e{number}") for number in (6, 7, 8)])
    store.append([Subscribe("s", "price < 3"), publish("e10"), publish("e11"), AUDI, publish("e13", brand="audi")])
    return store


@pytest.mark.parametrize(("after", "expected"), [(0, 1), (4, 5), (5, 9), (8, 9), (9, 12), (12, None), (99, None)])
def test_next_change(filled: Store, after: int, expected: int | None) -> None:
    assert filled.next_change(after) == expected


def test_changes(filled: Store) -> None:
    assert [(entry.position, entry.kind) for entry in filled.changes(4)] == [
        (5, "schema"),
        (9, "subscribe"),
        (12, "schema"),
    ]
    assert [entry.position for entry in filled.changes(4, 9)] == [5, 9]
    assert list(filled.changes(12)) == []


def test_entries(filled: Store) -> None:
    assert [entry.position for entry in filled.entries()] == list(range(1, 14))
    assert [entry.position for entry in filled.entries(7, 9)] == [8, 9]


def test_long_readings_are_cut_without_a_seam(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, changes = list(filled.entries()), list(filled.changes(0))
    for size in (1, 2, 13):
        monkeypatch.setattr(journal, "_ENTRIES_AT_ONCE", size)
        assert list(filled.entries()) == whole
        assert list(filled.changes(0)) == changes


def test_event_rows(filled: Store) -> None:
    (batch,) = filled.event_rows(6, 12)
    assert batch.schema == pa.schema(
        {"position": pa.int64(), "accepted": pa.int64(), "schema_version": pa.int64(), "payload": pa.string()}
    )
    assert batch.column("position").to_pylist() == [7, 8, 10, 11]
    assert batch.column("accepted").to_pylist() == [int(START)] * 4
    assert batch.column("schema_version").to_pylist() == [6] * 4
    assert [json.loads(payload)["id"] for payload in batch.column("payload").to_pylist()] == ["e7", "e8", "e10", "e11"]
    assert [batch.column("schema_version")[0].as_py() for batch in filled.event_rows(12, 13)] == [7]


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5])
def test_event_rows_in_batches(filled: Store, rows: int) -> None:
    batches = list(filled.event_rows(0, 11, rows))
    assert [position for batch in batches for position in batch.column("position").to_pylist()] == [6, 7, 8, 10, 11]
    assert {len(batch) for batch in batches[:-1]} <= {rows}
    assert all(len(batch) for batch in batches)


def test_event_rows_of_large_events_come_a_few_at_a_time(filled: Store) -> None:
    (whole,) = filled.event_rows(0, 11)
    size = sum(map(len, whole.column("payload").to_pylist()))
    for most_bytes, least in ((1, 5), (size // 2, 2), (2 * size, 1)):
        batches = list(filled.event_rows(0, 11, most_bytes=most_bytes))
        assert pa.Table.from_batches(batches).combine_chunks().to_batches() == [whole]
        assert len(batches) >= least
    assert max(map(len, filled.event_rows(0, 11, most_bytes=1))) == 1


def test_no_event_rows(filled: Store) -> None:
    assert list(filled.event_rows(0, 5)) == []
    assert list(filled.event_rows(13, 99)) == []


def test_position_at(store: Store, clock: Clock) -> None:
    with_schema(store)
    times = [store.append([publish(f"e{number}"), publish(f"f{number}")]) and clock.tick(10) for number in range(5)]
    assert store.position_at(Instant(0)) == 1
    assert store.position_at(START) == 1
    assert store.position_at(Instant(START + 1)) == 8
    assert store.position_at(times[0]) == 8
    assert store.position_at(Instant(times[3] - 1)) == 14
    assert store.position_at(times[3]) == 14
    assert store.position_at(times[4]) == 16


def test_position_at_in_an_empty_journal(store: Store) -> None:
    assert store.position_at(START) == 1


def test_a_reader_does_not_wait_for_a_writer_and_sees_only_what_is_committed(filled: Store) -> None:
    with Store.open(filled.url) as other, filled.database.writing() as connection:
        connection.exec_driver_sql("UPDATE about SET tail = 99")
        assert other.tail() == 13
        assert positions([]) == []
        assert len(list(other.entries())) == 13


def test_an_unfinished_iterator_blocks_nobody(filled: Store) -> None:
    entries, spans = filled.entries(), filled.spans()
    next(entries)
    next(spans)
    assert positions(filled.append([publish("e14"), Pause("s")])) == [14, 15]
    entries.close()  # type: ignore[attr-defined]
    spans.close()  # type: ignore[attr-defined]
