"""Expiry is in the journal: an entry of its own, before anything that is accepted at or after that time."""

import time

import pytest

from tests.store.samples import START, Clock, positions, publish, refusal, with_schema
from tidings.schema import Instant
from tidings.store import Edit, Pause, Resume, Store, Subscribe, Withdraw
from tidings.store import append as appending


def in_seconds(seconds: int) -> Instant:
    return Instant(START + seconds * 1_000_000)


def kinds(store: Store, after: int) -> list[tuple[int, str, Instant]]:
    return [(entry.position, entry.kind, entry.accepted) for entry in store.entries(after)]


def test_it_expires_before_the_event_that_is_not_before_it(store: Store, clock: Clock) -> None:
    with_schema(store).append([Subscribe("s", "price < 3", expiry=in_seconds(10))])
    clock.tick(9.999999)
    assert positions(store.append([publish("e1")])) == [7]
    clock.tick(0.000001)
    assert positions(store.append([publish("e2")])) == [9]
    assert kinds(store, 7) == [(8, "expire", in_seconds(10)), (9, "event", in_seconds(10))]
    (span,) = store.spans()
    assert (span.start, span.stop) == (6, 8)
    assert store.subscriptions() == []


def test_several_expire_in_the_order_of_their_times(store: Store, clock: Clock) -> None:
    drafts = [Subscribe(id, "price < 3", expiry=in_seconds(at)) for id, at in (("b", 2), ("c", 1), ("a", 2), ("d", 9))]
    with_schema(store).append(drafts)
    clock.tick(5)
    assert positions(store.append([publish("e1")])) == [13]
    bodies = [entry.body for entry in store.entries(9, 12)]
    assert bodies == ['{"id":"c"}', '{"id":"a"}', '{"id":"b"}']
    assert [one.id for one in store.subscriptions()] == ["d"]


def test_even_an_append_of_nothing_lets_the_due_expire(store: Store, clock: Clock) -> None:
    with_schema(store).append([Subscribe("s", "price < 3", expiry=in_seconds(1))])
    clock.tick()
    assert store.append([]) == []
    assert kinds(store, 6) == [(7, "expire", in_seconds(1))]
    assert store.append([]) == []
    assert store.tail() == 7


def test_a_paused_one_expires_too(store: Store, clock: Clock) -> None:
    with_schema(store).append([Subscribe("s", "price < 3", expiry=in_seconds(1)), Pause("s")])
    clock.tick()
    store.append([])
    assert [entry.kind for entry in store.entries(5)] == ["subscribe", "pause", "expire"]
    (span,) = store.spans()
    assert (span.start, span.stop) == (6, 7)


def test_what_has_expired_is_unknown_and_its_id_is_free(store: Store, clock: Clock) -> None:
    with_schema(store).append([Subscribe("s", "price < 3", expiry=in_seconds(1))])
    clock.tick()
    outcomes = store.append(
        [Withdraw("s"), Pause("s"), Resume("s"), Edit("s", "price < 4"), Subscribe("s", "price < 5")]
    )
    assert all(refusal(outcome).startswith("no subscription 's'") for outcome in outcomes[:4])
    assert positions(outcomes[4:]) == [8]
    assert [(span.start, span.stop) for span in store.spans()] == [(6, 7), (8, None)]


def test_withdrawn_before_it_expires(store: Store, clock: Clock) -> None:
    with_schema(store).append([Subscribe("s", "price < 3", expiry=in_seconds(1)), Withdraw("s")])
    clock.tick()
    store.append([])
    assert store.tail() == 7


def test_an_expiry_that_was_put_off_or_taken_away(store: Store, clock: Clock) -> None:
    drafts = [Subscribe(id, "price < 3", expiry=in_seconds(1)) for id in ("later", "never", "due")]
    with_schema(store).append([*drafts, Edit("later", expiry=in_seconds(5)), Edit("never", expiry=None)])
    clock.tick()
    store.append([])
    assert [one.id for one in store.subscriptions()] == ["later", "never"]
    clock.tick(4)
    (outcome,) = store.append([Edit("later", expiry=in_seconds(99))])  # too late
    assert refusal(outcome).startswith("no subscription 'later'")
    assert [one.id for one in store.subscriptions()] == ["never"]


def test_an_expiry_that_was_set_later(store: Store, clock: Clock) -> None:
    with_schema(store).append([Subscribe("s", "price < 3"), Edit("s", expiry=in_seconds(2))])
    clock.tick(2)
    store.append([])
    assert kinds(store, 7) == [(8, "expire", in_seconds(2))]
    (span,) = store.spans()
    assert (span.start, span.stop) == (6, 8)


def test_many_that_are_due_expire_in_transactions_of_their_own(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no other writer waits for all of them; the event comes after the last."""
    due = [Subscribe(id, "price < 3", expiry=in_seconds(5)) for id in "hgfedcba"]
    with_schema(store).append([*due, Subscribe("first", "price < 3", expiry=in_seconds(4))])
    monkeypatch.setattr(appending, "MOST_DUE", 4)
    tails: list[int] = []
    monkeypatch.setattr(time, "sleep", lambda seconds: tails.append(store.tail()))
    clock.tick(6)
    assert positions(store.append([publish("e1")])) == [24]
    assert tails == [18, 22]
    expired = [entry for entry in store.entries(14) if entry.kind == "expire"]
    assert [entry.body for entry in expired] == [f'{{"id":"{id}"}}' for id in ("first", *"abcdefgh")]
    assert {entry.accepted for entry in expired} == {in_seconds(6)}
    assert store.subscriptions() == []
