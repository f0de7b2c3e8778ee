"""How much at once, what channels may do wrong, two outboxes at once, and the end of one."""

import asyncio
import logging

import pytest

from tests.notifying.owing import (
    DAY,
    FAILED,
    GONE,
    OK,
    OWNER,
    Recorder,
    deliveries,
    find,
    outbox_of,
    play,
    send_all,
    settled,
    states,
    with_channels,
)
from tests.store.samples import Clock
from tidings.notifying.delivery import Attempt, OutgoingDelivery
from tidings.notifying.outbox.limits import Limits
from tidings.notifying.outbox.outbox import Outbox
from tidings.notifying.outbox.schedule import WAITS
from tidings.schema import Instant
from tidings.store import LeaseLost, Store
from tidings.store.retention import Retention, RetentionDays


def test_one_that_hangs_delays_nobody_else(store: Store, clock: Clock) -> None:
    slow = [f"slow{number}" for number in range(40)]
    with_channels(store, *slow, url="https://slow.example/hook")
    with_channels(store, "s")
    find(store, *slow, "s", many=30)
    channel = Recorder()
    outbox = outbox_of(store, channel, clock, Limits(page=100, lane=5, run=3, ahead=10))

    async def through() -> None:
        channel.hanging = {id: asyncio.Event() for id in slow}
        await settled(outbox, hanging=1)
        assert channel.sequences("s") == list(range(1, 31))
        assert channel.under_way == 1  # that destination has never answered
        events, channel.hanging = channel.hanging, {}
        for event in events.values():
            event.set()
        await settled(outbox)

    play(outbox, through())
    assert len(channel.sent) == 41 * 30
    for id in slow:
        assert channel.sequences(id) == list(range(1, 31))


def test_one_that_answers_gets_more_places_up_to_its_share(store: Store, clock: Clock) -> None:
    many = [f"s{number}" for number in range(40)]
    with_channels(store, *many, url="https://quick.example/hook")
    find(store, *many)
    channel = Recorder()
    outbox = outbox_of(store, channel, clock, Limits(per_destination=12))

    async def through() -> None:
        await settled(outbox)
        find(store, *many)
        channel.hanging = {id: asyncio.Event() for id in many}
        await settled(outbox, hanging=12)
        assert channel.under_way == 12
        events, channel.hanging = channel.hanging, {}
        for event in events.values():
            event.set()
        await settled(outbox)

    play(outbox, through())
    assert len(channel.sent) == 2 * 40
    assert channel.most_under_way == 12


def test_a_defect_of_a_channel_is_a_failed_attempt(
    store: Store, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    with_channels(store, "s", "t")
    find(store, "s", "t")

    def broken(delivery: OutgoingDelivery) -> Attempt:
        if delivery.subscription == "s":
            raise ZeroDivisionError("a\0b")
        return OK

    with caplog.at_level(logging.ERROR):
        send_all(store, Recorder(answer=broken), clock)
    assert states(store) == [("due", 1)]
    assert states(store, "t") == [("delivered", 1)]
    (attempt,) = store.attempts_of(deliveries(store)[0].number)
    assert attempt.problem == "the record channel failed: ZeroDivisionError: a�b"
    assert "failed to send delivery" in caplog.text


def test_a_kind_that_is_not_set_up_here_is_a_failed_attempt(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    send_all(store, Recorder(kind="recorder"), clock)
    (attempt,) = store.attempts_of(deliveries(store)[0].number)
    assert "no channel of kind 'record' is set up here; did you mean 'recorder'?" in attempt.problem


def test_a_channel_that_never_ends_is_ended(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    channel = Recorder()
    outbox = outbox_of(store, channel, clock, Limits(longest_attempt=0.01))

    async def through() -> None:
        channel.hanging["s"] = asyncio.Event()
        await settled(outbox)

    play(outbox, through())
    (attempt,) = store.attempts_of(deliveries(store)[0].number)
    assert attempt.problem == "the record channel did not end within 0.01 s"


def test_of_two_one_sends_and_the_other_takes_over(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=3)
    first, second = Recorder(), Recorder()
    one, two = outbox_of(store, first, clock, holder="one"), outbox_of(store, second, clock, holder="two")

    async def through() -> None:
        await settled(one)
        await settled(two)
        assert (one.is_leading, two.is_leading) == (True, False)
        clock.tick(14)
        find(store, "s")
        await settled(two)
        assert second.sent == []
        clock.tick(2)  # one was silent for longer than its lease
        await settled(two)
        assert second.sequences() == [4]
        find(store, "s")
        await settled(one)
        assert not one.is_leading
        await settled(two)
        await one.close()

    play(two, through())
    assert first.sequences() == [1, 2, 3]
    assert second.sequences() == [4, 5]


def test_whoever_lost_the_lease_settles_nothing(store: Store, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with_channels(store, "s")
    find(store, "s")
    first, second = Recorder(), Recorder()
    one, two = outbox_of(store, first, clock, holder="one"), outbox_of(store, second, clock, holder="two")

    async def through() -> None:
        first.hanging["s"] = asyncio.Event()
        await settled(one, hanging=1)
        assert first.sequences() == [1]
        with store.database.writing("outbox") as connection:
            connection.exec_driver_sql("UPDATE leases SET until = 0")  # it ran out, which this one has not noticed
        assert store.take_lease("two", 15)
        first.hanging["s"].set()
        for _ in range(5):
            await asyncio.sleep(0)
        assert one.under_way == 1
        await one.turn()
        assert (one.is_leading, states(store)) == (False, [("due", 0)])
        await settled(two)
        await one.close()

    play(two, through())
    assert [delivery.id for delivery in first.sent] == [delivery.id for delivery in second.sent]
    assert states(store) == [("delivered", 1)]
    assert "lost its lease to two" in caplog.text
    with pytest.raises(LeaseLost):
        store.create_deliveries("one", clock.time, 10, lambda text: None)  # type: ignore[arg-type, return-value]


def test_it_runs_until_stopped_and_gives_the_lease_back(store: Store) -> None:
    with_channels(store, "s")
    channel = Recorder()
    outbox = Outbox(store, {"record": channel})

    async def through() -> None:
        stopped = asyncio.Event()
        running = asyncio.create_task(outbox.run(stopped))
        find(store, "s", many=3)
        while len(channel.sent) < 3:
            await asyncio.sleep(0.01)
        find(store, "s", many=2)
        while len(channel.sent) < 5:
            await asyncio.sleep(0.01)
        stopped.set()
        await running

    asyncio.run(through())
    assert channel.sequences() == [1, 2, 3, 4, 5]
    assert set(states(store)) == {("delivered", 1)}
    assert store.take_lease("another", 0)  # 15 s before the old one would have run out


def test_deliveries_are_forgotten_after_a_while(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=2)
    send_all(store, Recorder(answer=lambda delivery: OK if delivery.owed[0].sequence == 1 else FAILED), clock)
    first = deliveries(store)[0].number
    assert len(store.attempts_of(first)) == 1
    clock.tick(31 * DAY)
    send_all(store, Recorder(answer=lambda delivery: FAILED), clock)
    assert states(store) == [("due", 2)]
    assert store.attempts_of(first) == []


def test_what_failed_for_good_and_notices_are_forgotten_too(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    find(store, "s", "t")
    dead = Recorder(answer=lambda delivery: GONE if delivery.subscription == "t" else FAILED)
    for wait in (0, *WAITS):
        clock.tick(wait)
        send_all(store, dead, clock)
    assert (states(store), states(store, "t")) == ([("dead", 10)], [("due", 1)])
    given_up, held = deliveries(store)[0].number, deliveries(store, "t")[0].number
    assert [notice.subscription for notice in store.notices_of(OWNER)] == ["t", "s"]
    clock.tick(27 * DAY)  # the notice on t's channel is 30 days old, what was given up and the notice on it are not
    send_all(store, dead, clock)
    assert ([notice.subscription for notice in store.notices_of(OWNER)], len(states(store))) == (["s"], 1)
    clock.tick(4 * DAY)
    send_all(store, dead, clock)
    assert (states(store), store.attempts_of(given_up)) == ([], [])
    assert [notice.subscription for notice in store.notices_of(OWNER)] == []
    assert states(store, "t") == [("dead", 1)]  # nobody resumed its channel in all that time
    assert len(store.attempts_of(held)) == 2


def test_old_things_go_in_small_portions(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=7)
    send_all(store, Recorder(), clock)
    assert [store.sweep(Instant(clock.time + 1), limit=3) for _ in range(4)] == [3, 3, 1, 0]
    assert deliveries(store) == []


def test_old_events_go_once_they_are_delivered(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=600)
    clock.tick(2 * DAY)
    Retention(store, RetentionDays(events=1)).round()
    assert store.figures().events == 600, "all of them are owed"
    send_all(store, Recorder(), clock)
    (young,) = find(store, "s")
    send_all(store, Recorder(), clock)
    assert store.figures().events == 601
    Retention(store, RetentionDays(events=1)).round()
    assert store.figures().events == 1
    assert [one.position for one in store.notifications(0, 10)] == [young]
