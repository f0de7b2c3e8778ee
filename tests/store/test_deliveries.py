"""Deliveries: created once, recorded once, read, replayed, kept for as long as somebody needs them."""

import pytest

from tests.notifying.owing import OWNER, find, with_channels
from tests.store.batches import commit_batch
from tests.store.samples import START, Clock, publish
from tests.store.test_channels import create, done, settle, take
from tests.store.test_notifications import table
from tidings.notifying.outbox.delivery_sender import rhythm_of_text
from tidings.schema import Instant
from tidings.store import Item, Store, Subscribe

FAR = Instant(START + 10**12)


def test_spreading_in_any_pieces_gives_the_same(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    with_channels(store, "d", digest={"count": 3})
    positions = find(store, "s", "t", "d", many=10)
    holder, pieces = take(store), 0
    while store.create_deliveries(holder, clock.time, 7, rhythm_of_text):
        pieces += 1
    assert pieces == 5  # 30 notifications
    for id in ("s", "t"):
        kept = store.deliveries_of(id, OWNER, newest=False)
        assert [one.items for one in kept] == [(Item(n, at, START),) for n, at in enumerate(positions, 1)]
    digests = store.deliveries_of("d", OWNER, newest=False)
    assert [[item.sequence for item in one.items] for one in digests] == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10]]
    assert [one.open for one in digests] == [False, False, False, True]
    assert [item.position for one in digests for item in one.items] == positions
    assert len({one.number for id in ("s", "t", "d") for one in store.deliveries_of(id, OWNER)}) == 24


def test_a_store_without_channels_is_passed_in_one_step(store: Store, clock: Clock) -> None:
    with_channels(store)
    store.append([Subscribe("s", "price < 100", OWNER)])
    find(store, "s", many=50)
    assert store.create_deliveries(take(store), clock.time, 5, rhythm_of_text) == 50
    assert store.create_deliveries("one", clock.time, 5, rhythm_of_text) == 0
    with_channels(store, "t")
    find(store, "s", "t")
    assert [id for id, _ in create(store, clock)] == ["t"]


def test_due_ones_come_by_time_and_number_in_pages(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    find(store, "s", "t", many=3)
    create(store, clock)
    first = store.due(clock.time, 4)
    assert [one.number for one in first] == [1, 2, 3, 4]
    rest = store.due(clock.time, 4, (first[-1].due, first[-1].number))
    assert [one.number for one in rest] == [5, 6]
    assert store.due(Instant(clock.time - 1), 9) == []
    settle(store, clock, done(1), done(2, ok=False, problem="no", due=Instant(START + 5)))
    assert [one.number for one in store.due(clock.time, 9, (int(clock.time), 0))] == [3, 4, 5, 6]
    assert [(one.number, one.attempts) for one in store.due(FAR, 9)][-1] == (2, 1)
    assert [one.number for one in store.due_of("t", OWNER, True, FAR, 9)] == [4, 6]
    assert [one.number for one in store.due_of("t", OWNER, False, FAR, 9)] == [2]


def test_contents_are_all_that_is_needed(store: Store, clock: Clock) -> None:
    with_channels(store, "s", colour="red")
    find(store, "s")
    ((_, number),) = create(store, clock)
    (full,) = store.contents([number, 99])
    assert (full.delivery.number, full.filter, full.channel.settings["colour"]) == (number, "price < 100", "red")
    assert full.events[0] is not None
    assert '"price":10' in full.events[0]
    store.change_channel("s", OWNER, state="paused")
    assert store.contents([number]) == []


def test_nobodys_subscription_has_its_filter_too(store: Store, clock: Clock) -> None:
    with_channels(store, "s", owner="")
    find(store, "s")
    ((_, number),) = create(store, clock)
    assert store.contents([number])[0].filter == "price < 100"


def test_lists_go_both_ways_and_by_state(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=5)
    create(store, clock)
    settle(store, clock, done(2), done(4, ok=False, problem="no"))
    assert [one.number for one in store.deliveries_of("s", OWNER, limit=2)] == [5, 4]
    assert [one.number for one in store.deliveries_of("s", OWNER, after=4, limit=2)] == [3, 2]
    assert [one.number for one in store.deliveries_of("s", OWNER, after=3, newest=False)] == [4, 5]
    assert [one.number for one in store.deliveries_of("s", OWNER, state="delivered")] == [2]
    assert [one.number for one in store.deliveries_of("s", OWNER, state="dead")] == [4]
    assert [one.number for one in store.deliveries_of("s", OWNER, state="due")] == [5, 3, 1]


def test_attempts_are_kept_whatever_they_say(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    create(store, clock)
    strange = "a\0b\ud800c\U0001f600" + "x" * 10_000
    settle(store, clock, done(1, ok=False, request=strange, response=strange, problem=strange, status=500, due=FAR))
    (attempt,) = store.attempts_of(1)
    assert attempt.response.startswith("a�b?c\U0001f600xxx")
    assert [len(text) for text in (attempt.request, attempt.response, attempt.problem)] == [8_192, 2_048, 1_000]
    assert (attempt.started, attempt.seconds, attempt.ok, attempt.status) == (START, 0.5, False, 500)


@pytest.mark.parametrize("state", ["active", "paused"])
def test_replays(store: Store, clock: Clock, state: str) -> None:
    with_channels(store, "s", "t")
    find(store, "s", "t", many=3)
    for _, number in create(store, clock):
        settle(store, clock, done(number) if number != 3 else done(3, ok=False, problem="no"))
    assert store.due(FAR, 9) == []
    store.change_channel("s", OWNER, state=state)  # type: ignore[arg-type]
    clock.tick()
    assert store.replay("s", OWNER, [1, 2, 99]) == 1  # 2 is t's
    assert store.replay("s", OWNER, failed=True) == 1
    assert store.replay("s", OWNER, sequences=(4, 9)) == 0
    assert store.replay("s", OWNER, []) == 0
    assert store.due(FAR, 9) == []  # the outbox lets them go
    assert create(store, clock) == ([("s", 1), ("s", 3)] if state == "active" else [])
    one = store.delivery(1, OWNER)
    assert (one.state, one.attempts, one.tried, one.due, one.done) == ("due", 0, 1, clock.time, None)
    store.change_channel("s", OWNER, state="active")
    assert create(store, clock) == [("s", 1), ("s", 3)]


def test_what_was_replayed_meanwhile_is_sent_again(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    create(store, clock)
    settle(store, clock, done(1, ok=False, problem="no", due=START))
    store.replay("s", OWNER, [1])
    clock.tick()
    settle(store, clock, done(1, 1))  # a retry that was in the air
    assert len(store.attempts_of(1)) == 2
    assert create(store, clock) == [("s", 1)]
    settle(store, clock, done(1, 0))
    assert store.delivery(1, OWNER).state == "delivered"


def test_events_stay_while_somebody_is_owed_them(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    (first, second, third) = find(store, "s", many=3)
    assert store.owed_from() == first
    assert store.trim(most_bytes=0) == 0  # a notification without its delivery yet
    create(store, clock)
    assert store.trim(most_bytes=0) == 0
    settle(store, clock, done(1))
    assert store.owed_from() == second
    assert store.trim(most_bytes=0) == 1
    store.change_channel("s", OWNER, state="paused")
    settle(store, clock, done(3))
    assert store.trim(before=FAR) == 0
    settle(store, clock, done(2, ok=False, problem="given up"))
    assert store.owed_from() is None
    assert store.trim(most_bytes=0, needed_from=third) == 1
    assert store.trim(most_bytes=0) == 1
    assert store.replay("s", OWNER, [1, 2, 3]) == 0  # nothing is left to send


def test_events_that_nobody_is_sent_may_go(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    store.append([Subscribe("read", "price < 100", OWNER), publish("x")])
    commit_batch(store, 1, store.tail(), table((store.tail(), ["read"])))
    assert store.owed_from() is None
    assert store.trim(most_bytes=0) == 1


def test_an_open_digest_keeps_its_events(store: Store, clock: Clock) -> None:
    with_channels(store, "s", digest={"count": 5})
    (first, *_) = find(store, "s", many=3)
    assert create(store, clock) == []
    assert store.owed_from() == first
    assert store.trim(most_bytes=0) == 0
    clock.tick(86_400)
    assert create(store, clock) == [("s", 1)]


def test_old_deliveries_go_a_few_at_a_time(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=7)
    for _, number in create(store, clock)[:5]:
        settle(store, clock, done(number))
    assert store.sweep(START) == 0
    clock.tick()
    assert store.sweep(clock.time, 3) == 3
    assert store.sweep(clock.time, 3) == 2
    assert [one.number for one in store.deliveries_of("s", OWNER)] == [7, 6]
    assert store.attempts_of(1) == []
    find(store, "s")
    assert create(store, clock)[-1] == ("s", 8)  # no number is given twice
