"""Old events go; the keys, the changes and everything after them stay."""

import pyarrow as pa
import pytest

from tests.store.samples import START, Clock, projections, publish, with_schema
from tests.store.test_notifications import table
from tidings.schema import Instant
from tidings.store import Duplicate, Pause, Store, Subscribe, rebuild, retention

NONE = pa.table({"position": pa.array([], pa.int64()), "subscriptions": pa.array([], pa.list_(pa.string()))})


@pytest.fixture
def filled(store: Store, clock: Clock) -> Store:
    """Schema 1-5, a subscription 6, then events 7 to 16, one each second; all committed."""
    with_schema(store).append([Subscribe("s", "price < 3")])
    for number in range(7, 17):
        clock.tick()
        store.append([publish(f"e{number:02}")])
    store.commit_batch(1, 16, NONE)
    return store


def at(seconds: int) -> Instant:
    return Instant(START + seconds * 1_000_000)


def events(store: Store) -> list[int]:
    return [entry.position for entry in store.entries() if entry.kind == "event"]


def size(store: Store) -> int:
    return sum(len(entry.body.encode()) for entry in store.entries() if entry.kind == "event")


def test_nothing_asked_nothing_removed(filled: Store) -> None:
    assert filled.trim() == 0
    assert filled.trim(before=at(1)) == 0
    assert filled.trim(most_bytes=10**9) == 0
    assert (filled.complete_from(), events(filled)) == (1, list(range(7, 17)))


def test_by_age(filled: Store) -> None:
    assert filled.trim(before=at(4)) == 3  # accepted in seconds 1, 2, 3
    assert (filled.complete_from(), events(filled)) == (10, list(range(10, 17)))
    assert filled.trim(before=at(4)) == 0
    assert [entry.position for entry in filled.entries()][:6] == [1, 2, 3, 4, 5, 6]


def test_by_size(filled: Store) -> None:
    one = size(filled) // 10
    assert filled.trim(most_bytes=one * 4) == 6
    assert size(filled) == one * 4
    assert filled.trim(most_bytes=one * 4 - 1) == 1
    assert (filled.complete_from(), events(filled)) == (14, [14, 15, 16])


def test_by_age_and_size_whichever_asks_for_more(filled: Store) -> None:
    one = size(filled) // 10
    assert filled.trim(before=at(6), most_bytes=one * 9) == 5
    assert filled.trim(before=at(2), most_bytes=one * 2) == 3


def test_only_what_is_committed(store: Store, clock: Clock) -> None:
    with_schema(store)
    store.append([publish("e6"), publish("e7"), publish("e8")])
    clock.tick()
    assert store.trim(before=clock.time, most_bytes=0) == 0
    store.commit_batch(1, 7, NONE)
    assert store.trim(before=clock.time) == 2
    assert events(store) == [8]


def test_not_more_than_was_asked_for(filled: Store) -> None:
    assert [filled.trim(before=at(8), limit=3) for _ in range(4)] == [3, 3, 1, 0]


def test_notifications_follow_their_events(store: Store, clock: Clock) -> None:
    with_schema(store).append([Subscribe("s", "price < 3"), Subscribe("t", "price < 3")])
    for number in range(8, 12):
        clock.tick()
        store.append([publish(f"e{number}")])
    store.commit_batch(1, 11, table((8, ["s", "t"]), (9, ["t"]), (10, ["s"]), (11, ["s"])))
    assert store.forget() == 0
    assert store.trim(before=at(3)) == 2
    assert len(store.notifications(0, 10)) == 5
    assert [store.forget(2) for _ in range(3)] == [2, 1, 0]
    assert [(one.cursor, one.position) for one in store.notifications(0, 10)] == [(4, 10), (5, 11)]
    assert store.figures().notifications == 5  # ever made


def test_only_what_nobody_needs(filled: Store) -> None:
    assert filled.trim(most_bytes=0, needed_from=9) == 2
    assert filled.trim(before=at(99), needed_from=10) == 1
    assert filled.complete_from() == 10


def test_all_of_them_and_positions_go_on(filled: Store) -> None:
    assert filled.trim(before=at(99)) == 10
    assert (filled.tail(), filled.complete_from(), events(filled)) == (16, 17, [])
    assert filled.position_at(at(3)) == 17
    filled.append([publish("new")])
    assert events(filled) == [17]
    assert filled.position_at(at(3)) == 17
    assert filled.position_at(at(0)) == 1


def test_duplicates_of_removed_events_are_known(filled: Store) -> None:
    filled.trim(before=at(99))
    assert filled.append([publish("e07"), publish("e16")]) == [Duplicate(7), Duplicate(16)]


def test_in_pieces(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_EVENTS_AT_ONCE", 3)
    assert filled.trim(before=at(9)) == 8
    one = size(filled) // 2
    assert filled.trim(most_bytes=one) == 1
    assert events(filled) == [16]


def test_the_readers_skip_what_is_gone(filled: Store) -> None:
    filled.trim(before=at(9))
    (batch,) = filled.event_rows(0, 16)
    assert batch.column("position").to_pylist() == [15, 16]
    assert filled.next_change(6) is None
    assert filled.position_at(at(2)) == 15


def test_rebuilding_after_a_trim_gives_the_same(filled: Store) -> None:
    filled.append([Pause("s"), publish("e18")])
    filled.trim(before=at(5))
    before = projections(filled)
    assert len(before["keys"]) == 11  # type: ignore[arg-type]
    rebuild(filled)
    assert projections(filled) == before
