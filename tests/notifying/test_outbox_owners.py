"""What owners do beside the outbox: pause and resume, withdraw, edit, replay. The clock stands until it is set."""

import asyncio

from tests.notifying.owing import (
    FAILED,
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
from tidings.notifying.outbox.schedule import WAITS
from tidings.store import Edit, Store, Withdraw


def test_pause_delays_and_resume_sends_in_order(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    store.change_channel("s", OWNER, state="paused")
    find(store, "s", "t", many=3)
    channel = Recorder()
    outbox = outbox_of(store, channel, clock)

    async def through() -> None:
        await settled(outbox)
        assert channel.sequences("s") == []
        assert channel.sequences("t") == [1, 2, 3]
        assert states(store) == [("due", 0)] * 3
        store.change_channel("s", OWNER, state="active")
        find(store, "s", "t", many=2)
        await settled(outbox)

    play(outbox, through())
    assert channel.sequences("s") == [1, 2, 3, 4, 5]
    assert channel.sequences("t") == [1, 2, 3, 4, 5]


def test_a_pause_counts_when_a_run_has_ended(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=10)

    def pause_at_three(delivery: OutgoingDelivery) -> Attempt:
        if delivery.owed[0].sequence == 3:
            store.change_channel("s", OWNER, state="paused")
        return OK

    channel = Recorder(answer=pause_at_three)
    send_all(store, channel, clock, Limits(run=1))
    assert channel.sequences() == [1, 2, 3]
    store.change_channel("s", OWNER, state="active")
    send_all(store, channel, clock)
    assert channel.sequences() == list(range(1, 11))


def test_what_was_owed_to_a_withdrawn_subscription_is_sent(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=2)
    store.append([Withdraw("s")])
    channel = Recorder()
    send_all(store, channel, clock)
    assert channel.sequences() == [1, 2]
    assert channel.sent[0].filter == "price < 100"


def test_an_id_that_is_used_again_by_another_keeps_both_apart(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    store.change_channel("s", OWNER, state="paused")
    find(store, "s")
    store.append([Withdraw("s")])
    with_channels(store, "s", owner="bob", colour="blue")
    find(store, "s")
    channel = Recorder()
    send_all(store, channel, clock)
    assert [(delivery.owner, delivery.owed[0].sequence) for delivery in channel.sent] == [("bob", 1)]
    assert channel.settings[0]["colour"] == "blue"
    assert store.deliveries_of("s", "bob") != store.deliveries_of("s", OWNER)
    store.change_channel("s", OWNER, state="active")
    send_all(store, channel, clock)
    assert [delivery.owner for delivery in channel.sent] == ["bob", OWNER]
    assert "colour" not in channel.settings[1]


def test_each_carries_the_filter_it_was_found_by(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    store.append([Edit("s", "price < 50")])
    find(store, "s")
    channel = Recorder()
    send_all(store, channel, clock)
    assert [delivery.filter for delivery in channel.sent] == ["price < 100", "price < 50"]


def test_replay_of_one_of_all_failed_and_of_a_range(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    find(store, "s", "t", many=5)
    dead = Attempt(False, 0.1, "", problem="no")
    channel = Recorder(answer=lambda delivery: dead if delivery.owed[0].sequence in (2, 4) else OK)
    for wait in (0, *WAITS):
        clock.tick(wait)
        send_all(store, channel, clock)
    assert [state for state, _ in states(store)] == ["delivered", "dead", "delivered", "dead", "delivered"]
    numbers = [one.number for one in deliveries(store)]
    others = len(channel.sequences("t"))
    channel.answer = lambda delivery: OK
    channel.sent.clear()
    assert store.replay("s", OWNER, [numbers[0]]) == 1
    send_all(store, channel, clock)
    assert channel.sequences() == [1]
    assert store.replay("s", OWNER, failed=True) == 2
    send_all(store, channel, clock)
    assert channel.sequences() == [1, 2, 4]
    assert store.replay("s", OWNER, sequences=(3, 9)) == 3
    send_all(store, channel, clock)
    assert channel.sequences() == [1, 2, 4, 3, 4, 5]
    assert channel.sequences("t") == []
    assert others > 0
    assert [state for state, _ in states(store)] == ["delivered"] * 5
    assert [one.attempt for one in store.attempts_of(numbers[1])] == list(range(1, 12))


def test_replay_while_a_retry_is_in_the_air_sends_it_again(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    channel = Recorder(answer=lambda delivery: FAILED)
    outbox = outbox_of(store, channel, clock)

    async def through() -> None:
        await settled(outbox)
        clock.tick(5)
        channel.hanging["s"] = asyncio.Event()
        await settled(outbox, hanging=1)
        assert len(channel.sent) == 2
        store.replay("s", OWNER, failed=False)
        await settled(outbox, hanging=1)
        channel.hanging.pop("s").set()
        channel.answer = lambda delivery: OK
        await settled(outbox)

    play(outbox, through())
    assert len(channel.sent) == 3
    assert states(store) == [("delivered", 1)]
