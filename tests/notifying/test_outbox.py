"""The outbox with a clock that stands until it is set: order, retries, and channels that are disabled."""

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
from tests.store.samples import START, Clock
from tidings.notifying.delivery import Attempt
from tidings.notifying.outbox.limits import Limits
from tidings.notifying.outbox.schedule import WAITS
from tidings.schema import Instant
from tidings.store import Store, notification_id


def test_what_is_found_is_sent_with_all_that_belongs_to_it(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    (position,) = find(store, "s")
    matched = clock.time
    clock.tick(1)
    channel = Recorder()
    send_all(store, channel, clock)
    (delivery,) = channel.sent
    (owed,) = delivery.owed
    id = notification_id("s", "", f"e{position}")
    assert (delivery.id, delivery.subscription, delivery.owner) == (id, "s", OWNER)
    assert delivery.filter == "price < 100"
    assert (owed.id, owed.sequence, owed.matched_at) == (id, 1, matched)
    assert owed.event["attributes"] == {"price": 10}
    assert channel.settings == [{"address": "s", "kind": "record"}]
    (kept,) = deliveries(store)
    assert (kept.state, kept.attempts, kept.done) == ("delivered", 1, clock.time)
    (attempt,) = store.attempts_of(kept.number)
    assert (attempt.attempt, attempt.ok, attempt.status, attempt.request) == (1, True, 200, "POST somewhere")


def test_nothing_is_owed_for_what_was_found_before_the_channel(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    store.remove_channel("s", OWNER)
    find(store, "s")
    with_channels(store)
    channel = Recorder()
    send_all(store, channel, clock)
    assert channel.sent == []


def test_sequence_numbers_are_dense_for_each_subscription(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    find(store, "s", "t", many=3)
    find(store, "t")
    find(store, "s", many=2)
    channel = Recorder()
    send_all(store, channel, clock)
    assert channel.sequences("s") == [1, 2, 3, 4, 5]
    assert channel.sequences("t") == [1, 2, 3, 4]


def test_first_attempts_go_in_order_one_after_the_other(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=300)  # more than a lane remembers, and than one run
    channel = Recorder()
    send_all(store, channel, clock, Limits(lane=20, run=7, page=50))
    assert channel.sequences() == list(range(1, 301))
    assert channel.most_under_way == 1
    assert set(states(store)) == {("delivered", 1)}


def test_a_failure_does_not_hold_back_later_ones(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=3)
    channel = Recorder(answer=lambda delivery: FAILED if delivery.owed[0].sequence == 1 else OK)
    send_all(store, channel, clock)
    assert channel.sequences() == [1, 2, 3]
    assert states(store) == [("due", 1), ("delivered", 1), ("delivered", 1)]
    clock.tick(4.9)
    send_all(store, channel, clock)
    assert len(channel.sent) == 3
    clock.tick(0.1)
    find(store, "s")
    channel.answer = lambda delivery: OK
    send_all(store, channel, clock)
    assert sorted(channel.sequences()[3:]) == [1, 4]


def test_every_row_of_the_schedule_and_then_dead(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    channel = Recorder(answer=lambda delivery: FAILED)
    outbox = outbox_of(store, channel, clock)

    async def through() -> None:
        await settled(outbox)
        for wait in WAITS:
            clock.tick(wait - 1)
            await settled(outbox)
            before = len(channel.sent)
            clock.tick(1)
            await settled(outbox)
            assert len(channel.sent) == before + 1

    play(outbox, through())
    began = [(time - START) // 1_000_000 for time in channel.times]
    assert began == [0, *(sum(WAITS[: number + 1]) for number in range(len(WAITS)))]
    assert len({delivery.id for delivery in channel.sent}) == 1
    (dead,) = deliveries(store)
    assert (dead.state, dead.attempts, dead.done) == ("dead", 10, clock.time)
    log = store.attempts_of(dead.number)
    assert [one.attempt for one in log] == list(range(1, 11))
    assert {(one.status, one.response, one.problem) for one in log} == {(500, "oh no", "it answered 500")}


def test_a_receiver_that_asks_for_time_gets_it(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    busy = Attempt(False, 0.1, "", 429, problem="it answered 429", retry_after=100)
    channel = Recorder(answer=lambda delivery: busy)
    send_all(store, channel, clock)
    assert deliveries(store)[0].due == Instant(START + 100_000_000)


def test_410_disables_the_channel_at_once_and_loses_nothing(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    find(store, "s", "t", many=3)
    channel = Recorder(answer=lambda delivery: GONE if delivery.subscription == "s" else OK)
    send_all(store, channel, clock)
    assert channel.sequences("s") == [1]
    assert channel.sequences("t") == [1, 2, 3]
    disabled = store.channel("s")
    assert disabled is not None
    assert (disabled.state, disabled.reason) == ("disabled", "it answered 410")
    (notice,) = store.notices_of(OWNER)
    assert notice.subscription == "s"
    assert "Sending by record was stopped: it answered 410" in notice.text
    find(store, "s")
    clock.tick(DAY)
    send_all(store, channel, clock)
    assert len(channel.sequences("s")) == 1
    channel.answer = lambda delivery: OK
    store.change_channel("s", OWNER, state="active")
    send_all(store, channel, clock)
    after = channel.sequences("s")[1:]
    assert sorted(after) == [1, 2, 3, 4]
    assert [sequence for sequence in after if sequence != 1] == [2, 3, 4]  # the retry goes beside them
    assert set(states(store)) == {("delivered", 1), ("delivered", 2)}


def test_failing_for_five_days_disables_with_one_notice(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    channel = Recorder(answer=lambda delivery: FAILED)
    for day in range(6):
        find(store, "s")
        send_all(store, channel, clock)
        assert store.channel("s").state == ("disabled" if day == 5 else "active")  # type: ignore[union-attr]
        clock.tick(DAY)
    (notice,) = store.notices_of(OWNER)
    assert f"every delivery has failed since {START}" in notice.text


def test_one_success_and_the_channel_is_well(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    channel = Recorder(answer=lambda delivery: FAILED)
    find(store, "s")
    send_all(store, channel, clock)
    assert [one.subscription for one in store.troubled()] == ["s"]
    channel.answer = lambda delivery: OK
    clock.tick(10)
    send_all(store, channel, clock)
    well = store.channel("s")
    assert well is not None
    assert (well.failing_since, well.dead_in_a_row, well.problem) == (None, 0, "")
    assert store.troubled() == []


def test_twenty_dead_letters_in_a_row_disable(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=21)
    channel = Recorder(answer=lambda delivery: FAILED)
    for wait in (0, *WAITS):
        clock.tick(wait)
        send_all(store, channel, clock)
    kept = store.channel("s")
    assert kept is not None
    assert (kept.state, kept.reason) == ("disabled", "20 deliveries in a row failed permanently")
