"""Old events go, then what hangs on them; whatever somebody may still need stays."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest
from sqlalchemy import event

from tests.notifying.owing import with_channels
from tests.services.postgresql import Server
from tests.store.batches import commit_batch
from tests.store.samples import START, Clock, projections, publish, with_schema
from tests.store.test_notifications import table
from tidings.schema import Instant
from tidings.store import Accepted, DeadLetter, Duplicate, Edit, Pause, Resume, Store, Subscribe, Withdraw, rebuild
from tidings.store.notifications.expression_errors import FailedEvent
from tidings.store.pages import oversight
from tidings.store.removal import old_entries

NONE = pa.table({"position": pa.array([], pa.int64()), "subscriptions": pa.array([], pa.list_(pa.string()))})


@pytest.fixture
def filled(store: Store, clock: Clock) -> Store:
    """Schema 1-5, a subscription 6, then events 7 to 16, one each second; all committed."""
    with_schema(store).append([Subscribe("s", "price < 3")])
    for number in range(7, 17):
        clock.tick()
        store.append([publish(f"e{number:02}")])
    commit_batch(store, 1, 16, NONE)
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
    commit_batch(store, 1, 7, NONE)
    assert store.trim(before=clock.time) == 2
    assert events(store) == [8]


def test_not_more_than_was_asked_for(filled: Store) -> None:
    assert [filled.trim(before=at(8), limit=3) for _ in range(4)] == [3, 3, 1, 0]


def test_notifications_follow_their_events(store: Store, clock: Clock) -> None:
    with_schema(store).append([Subscribe("s", "price < 3"), Subscribe("t", "price < 3")])
    for number in range(8, 12):
        clock.tick()
        store.append([publish(f"e{number}")])
    commit_batch(store, 1, 11, table((8, ["s", "t"]), (9, ["t"]), (10, ["s"]), (11, ["s"])))
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
    monkeypatch.setattr(old_entries, "_EVENTS_AT_ONCE", 3)
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


def test_large_events_go_in_smaller_pieces(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_entries, "_BYTES_AT_ONCE", size(filled) // 4)
    begun: list[str] = []
    writing = filled.database.writing
    monkeypatch.setattr(filled.database, "writing", lambda *part: begun.append("") or writing(*part))
    assert filled.trim(before=at(99)) == 10
    assert len(begun) == 6  # two at once, and a look that finds nothing


def test_subscription_changes_are_walked_over_once(filled: Store) -> None:
    filled.trim(before=at(99))
    filled.append([Subscribe(f"t{number}", "price < 3") for number in range(20)])
    commit_batch(filled, 17, 36, NONE)
    filled.append([publish("new")])
    assert filled.trim(before=at(99)) == 0
    with filled.database.reading() as connection:
        assert connection.exec_driver_sql("SELECT complete_from, trimmed FROM about").one() == (17, 36)
    commit_batch(filled, 37, 37, NONE)
    assert filled.trim(before=at(99)) == 1
    assert filled.complete_from() == 38


def test_keys_of_removed_events_go_by_their_own_age(filled: Store) -> None:
    assert filled.forget_keys(at(99)) == 0  # an event that is kept keeps its key
    filled.trim(before=at(6))  # e07 to e11, of seconds 1 to 5
    assert filled.forget_keys(at(1)) == 0
    assert filled.forget_keys(at(3)) == 2
    outcomes = filled.append([publish("e07"), publish("e08"), publish("e09"), publish("e16")])
    assert [type(outcome) for outcome in outcomes] == [Accepted, Accepted, Duplicate, Duplicate]
    assert [filled.forget_keys(at(99), 2) for _ in range(3)] == [2, 1, 0]
    assert filled.append([publish("e07")]) == [Duplicate(17)]  # of the second one, which is kept


def test_a_damaged_event_goes_too(filled: Store) -> None:
    with filled.database.writing() as connection:
        connection.exec_driver_sql("UPDATE journal SET body = '{' WHERE position = 8")
    assert filled.trim(before=at(4)) == 3
    assert filled.forget_keys(at(99)) == 2


def spans(store: Store) -> list[tuple[str, int, int | None]]:
    return [(span.subscription, span.start, span.stop) for span in store.spans()]


def test_spans_go_with_the_events_that_they_counted_for(filled: Store, clock: Clock) -> None:
    filled.append([Pause("s"), publish("e18"), Resume("s"), Edit("s", "price < 4"), Withdraw("s"), publish("e22")])
    filled.append([Subscribe("open", "price < 3")])
    assert spans(filled) == [("s", 6, 17), ("s", 19, 20), ("s", 20, 21), ("open", 23, None)]
    assert filled.forget_spans() == 0
    filled.trim(before=at(99))  # all that is committed: up to 16
    filled.commit(17, 18, [], failed=[FailedEvent(17, span, "no title") for span in (6, 19)])
    assert filled.forget_spans() == 1
    assert list(filled.expression_errors([6, 19])) == [19]
    filled.trim(most_bytes=0)
    assert filled.forget_spans() == 0  # 19 is complete, what closes later may count
    commit_batch(filled, 19, 22, NONE)
    filled.trim(most_bytes=0)
    assert [filled.forget_spans(1) for _ in range(3)] == [1, 1, 0]
    assert spans(filled) == [("open", 23, None)]


def test_a_span_stays_as_long_as_its_notifications(store: Store, clock: Clock) -> None:
    with_schema(store).append([Subscribe("s", "price < 3", "ann"), publish("e7"), Withdraw("s")])
    commit_batch(store, 1, 8, table((7, ["s"])))
    store.append([publish("e9")])
    commit_batch(store, 9, 9, NONE)
    assert store.trim(most_bytes=0) == 2
    assert store.forget_spans() == 0
    assert store.forget() == 1
    assert store.forget_spans() == 1


def letter(place: int) -> DeadLetter:
    return DeadLetter("file", str(place), None, "{", ())


def test_dead_letters_go_by_age_and_their_numbers_go_on(store: Store, clock: Clock) -> None:
    for place in range(4):
        store.bury([letter(place)])
        clock.tick()
    assert store.forget_letters(at(0)) == 0
    assert store.forget_letters(at(3), 2) == 2
    assert [one.number for one in store.dead_letters()] == [3, 4]
    assert [one.number for one in oversight.newest_letters(store, 9, before=4)] == [3]
    assert store.forget_letters(at(99)) == 2
    assert store.bury([letter(0), letter(0), letter(9)]) == 2
    assert [one.number for one in oversight.newest_letters(store, 9)] == [6, 5]
    assert store.figures().dead_letters == 6


@pytest.mark.slow
def test_nothing_owed_goes_when_a_batch_is_committed_between_two_looks(server: Server, clock: Clock) -> None:
    """On PostgreSQL every statement of a transaction sees a moment of its own."""
    for moment in range(100):
        url = server.store()
        with Store.open(url, clock) as store, Store.open(url, clock) as pipeline:
            with_channels(store, "s")
            (outcome,) = store.append([publish("owed")])
            assert isinstance(outcome, Accepted)
            place = outcome.position
            looks = -1

            def commit(*_: object, place: int = place, pipeline: Store = pipeline, moment: int = moment) -> None:
                nonlocal looks
                looks += 1
                if looks == moment:
                    commit_batch(pipeline, 1, place, table((place, ["s"])))

            with before_each_statement(store, commit):
                store.trim(most_bytes=0)
            assert place in store.events_at([place]), f"lost at statement {moment}"
            committed = store.committed()
        server.recycle(url)
        if not committed:
            break
    assert 5 < moment < 99  # every place between two statements was tried


@contextmanager
def before_each_statement(store: Store, call: Callable[..., None]) -> Iterator[None]:
    """Also those that go past SQLAlchemy."""
    dialect, page = store.database.dialect, store.database.dialect.page

    def called(*arguments: Any) -> Any:
        call()
        return page(*arguments)

    event.listen(store.database.engine, "before_cursor_execute", call)
    dialect.page = called  # type: ignore[method-assign]
    try:
        yield
    finally:
        event.remove(store.database.engine, "before_cursor_execute", call)
        dialect.page = page  # type: ignore[method-assign]
