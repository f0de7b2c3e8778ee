"""Answers to requests with an Idempotency-Key: the first one stays, for a day."""

from dataclasses import asdict, replace

from sqlalchemy import insert

from tests.store.samples import START, Clock
from tidings.schema import Instant
from tidings.store import KeptResponse, Store
from tidings.store.accounts import kept_responses

DAY = 24 * 60 * 60
FIRST = KeptResponse(b"ann\0k1", b"\x00\xff", 201, '{"id":"s-ä"}', START)


def kept(store: Store) -> int:
    with store.database.reading() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM kept_responses").scalar_one())


def test_an_answer_is_kept(store: Store) -> None:
    assert store.kept_response(FIRST.key) is None
    assert store.keep_response(FIRST)
    assert store.kept_response(FIRST.key) == FIRST
    assert store.kept_response(b"ann\0k2") is None


def test_the_first_answer_stays(store: Store) -> None:
    store.keep_response(FIRST)
    assert not store.keep_response(replace(FIRST, status=500, body=""))
    assert store.kept_response(FIRST.key) == FIRST


def test_it_is_kept_for_a_day(store: Store, clock: Clock) -> None:
    store.keep_response(FIRST)
    clock.tick(DAY - 0.000001)
    assert store.kept_response(FIRST.key) == FIRST
    clock.tick(0.000001)
    assert store.kept_response(FIRST.key) is None


def test_after_a_day_another_takes_its_place(store: Store, clock: Clock) -> None:
    store.keep_response(FIRST)
    later = replace(FIRST, status=200, stored=clock.tick(DAY))
    assert store.keep_response(later)
    assert store.kept_response(FIRST.key) == later
    assert kept(store) == 1


def test_old_ones_go_a_few_at_a_time(store: Store, clock: Clock) -> None:
    many = kept_responses._REMOVED_AT_ONCE + 50
    old = [replace(FIRST, key=f"old {number}".encode(), stored=Instant(START + number)) for number in range(many)]
    with store.database.writing() as connection:
        connection.execute(insert(kept_responses.kept_responses), [asdict(one) for one in old])
    clock.tick(DAY + 1)
    store.keep_response(replace(FIRST, key=b"new 1", stored=clock.time))
    assert kept(store) == 50 + 1
    with store.database.reading() as connection:
        oldest = connection.exec_driver_sql("SELECT min(stored) FROM kept_responses").scalar_one()
    assert oldest == START + kept_responses._REMOVED_AT_ONCE  # the oldest went first
    store.keep_response(replace(FIRST, key=b"new 2", stored=clock.time))
    assert kept(store) == 2
