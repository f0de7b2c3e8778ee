"""The outbox with a clock that stands until it is set: order, retries, rhythm, pauses, replays and two at once."""

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.notifying.owing import FAILED, GONE, OK, OWNER, Recorder, find, outbox_of, settled, with_channels
from tests.store.samples import START, Clock
from tidings.notifying.lanes import Limits
from tidings.notifying.outbox import Outbox
from tidings.notifying.parcel import Attempt, Parcel
from tidings.notifying.schedule import WAITS
from tidings.notifying.sending import rhythm_of_text
from tidings.schema import Instant
from tidings.store import Edit, LeaseLost, Store, StoredParcel, Withdraw
from tidings.store.clock import now as time_now

DAY = 86_400


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store.open(tmp_path / "tidings.db", clock) as opened:
        yield opened


def play(outbox: Outbox, *steps: Coroutine[Any, Any, Any]) -> None:
    """These, one after the other, and then the end of the outbox."""

    async def all_of_them() -> None:
        try:
            for step in steps:
                await step
        finally:
            await outbox.close()

    asyncio.run(all_of_them())


def send_all(store: Store, channel: Recorder, clock: Clock, limits: Limits | None = None) -> None:
    """Everything that is due now."""
    outbox = outbox_of(store, channel, clock, limits)
    play(outbox, settled(outbox))


def parcels(store: Store, subscription: str = "s", owner: str = OWNER) -> list[StoredParcel]:
    return store.parcels_of(subscription, owner, newest=False)


def states(store: Store, subscription: str = "s") -> list[tuple[str, int]]:
    return [(one.state, one.attempts) for one in parcels(store, subscription)]


def test_what_is_found_is_sent_with_all_that_belongs_to_it(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    (position,) = find(store, "s")
    matched = clock.time
    clock.tick(1)
    channel = Recorder()
    send_all(store, channel, clock)
    (parcel,) = channel.sent
    (owed,) = parcel.owed
    assert (parcel.id, parcel.subscription, parcel.owner) == (f"{position}.s", "s", OWNER)
    assert parcel.filter == "price < 100"
    assert (owed.id, owed.sequence, owed.matched_at) == (f"{position}.s", 1, matched)
    assert owed.event["attributes"] == {"price": 10}
    assert channel.settings == [{"address": "s", "kind": "record"}]
    (kept,) = parcels(store)
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
    channel = Recorder(answer=lambda parcel: FAILED if parcel.owed[0].sequence == 1 else OK)
    send_all(store, channel, clock)
    assert channel.sequences() == [1, 2, 3]
    assert states(store) == [("due", 1), ("delivered", 1), ("delivered", 1)]
    clock.tick(4.9)
    send_all(store, channel, clock)
    assert len(channel.sent) == 3
    clock.tick(0.1)
    find(store, "s")
    channel.answer = lambda parcel: OK
    send_all(store, channel, clock)
    assert sorted(channel.sequences()[3:]) == [1, 4]


def test_every_row_of_the_schedule_and_then_dead(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    channel = Recorder(answer=lambda parcel: FAILED)
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
    assert len({parcel.id for parcel in channel.sent}) == 1
    (dead,) = parcels(store)
    assert (dead.state, dead.attempts, dead.done) == ("dead", 10, clock.time)
    log = store.attempts_of(dead.number)
    assert [one.attempt for one in log] == list(range(1, 11))
    assert {(one.status, one.response, one.problem) for one in log} == {(500, "oh no", "it answered 500")}


def test_a_receiver_that_asks_for_time_gets_it(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    busy = Attempt(False, 0.1, "", 429, problem="it answered 429", retry_after=100)
    channel = Recorder(answer=lambda parcel: busy)
    send_all(store, channel, clock)
    assert parcels(store)[0].due == Instant(START + 100_000_000)


def test_410_disables_the_channel_at_once_and_loses_nothing(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    find(store, "s", "t", many=3)
    channel = Recorder(answer=lambda parcel: GONE if parcel.subscription == "s" else OK)
    send_all(store, channel, clock)
    assert channel.sequences("s") == [1]
    assert channel.sequences("t") == [1, 2, 3]
    disabled = store.channel("s")
    assert disabled is not None
    assert (disabled.state, disabled.reason) == ("disabled", "it answered 410")
    (notice,) = store.notices_of(OWNER)
    assert notice.subscription == "s"
    assert "was disabled: it answered 410" in notice.text
    find(store, "s")
    clock.tick(DAY)
    send_all(store, channel, clock)
    assert len(channel.sequences("s")) == 1
    channel.answer = lambda parcel: OK
    store.change_channel("s", OWNER, state="active")
    send_all(store, channel, clock)
    after = channel.sequences("s")[1:]
    assert sorted(after) == [1, 2, 3, 4]
    assert [sequence for sequence in after if sequence != 1] == [2, 3, 4]  # the retry goes beside them
    assert set(states(store)) == {("delivered", 1), ("delivered", 2)}


def test_failing_for_five_days_disables_with_one_notice(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    channel = Recorder(answer=lambda parcel: FAILED)
    for day in range(6):
        find(store, "s")
        send_all(store, channel, clock)
        assert store.channel("s").state == ("disabled" if day == 5 else "active")  # type: ignore[union-attr]
        clock.tick(DAY)
    (notice,) = store.notices_of(OWNER)
    assert f"every delivery has failed since {START}" in notice.text


def test_one_success_and_the_channel_is_well(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    channel = Recorder(answer=lambda parcel: FAILED)
    find(store, "s")
    send_all(store, channel, clock)
    assert [one.subscription for one in store.troubled()] == ["s"]
    channel.answer = lambda parcel: OK
    clock.tick(10)
    send_all(store, channel, clock)
    well = store.channel("s")
    assert well is not None
    assert (well.failing_since, well.dead_in_a_row, well.problem) == (None, 0, "")
    assert store.troubled() == []


def test_twenty_dead_letters_in_a_row_disable(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=21)
    channel = Recorder(answer=lambda parcel: FAILED)
    for wait in (0, *WAITS):
        clock.tick(wait)
        send_all(store, channel, clock)
    kept = store.channel("s")
    assert kept is not None
    assert (kept.state, kept.reason) == ("disabled", "20 deliveries in a row were given up")


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

    def pause_at_three(parcel: Parcel) -> Attempt:
        if parcel.owed[0].sequence == 3:
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
    assert [(parcel.owner, parcel.owed[0].sequence) for parcel in channel.sent] == [("bob", 1)]
    assert channel.settings[0]["colour"] == "blue"
    assert store.parcels_of("s", "bob") != store.parcels_of("s", OWNER)
    store.change_channel("s", OWNER, state="active")
    send_all(store, channel, clock)
    assert [parcel.owner for parcel in channel.sent] == ["bob", OWNER]
    assert "colour" not in channel.settings[1]


def test_each_carries_the_filter_it_was_found_by(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    store.append([Edit("s", "price < 50")])
    find(store, "s")
    channel = Recorder()
    send_all(store, channel, clock)
    assert [parcel.filter for parcel in channel.sent] == ["price < 100", "price < 50"]


def test_replay_of_one_of_all_failed_and_of_a_range(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    find(store, "s", "t", many=5)
    dead = Attempt(False, 0.1, "", problem="no")
    channel = Recorder(answer=lambda parcel: dead if parcel.owed[0].sequence in (2, 4) else OK)
    for wait in (0, *WAITS):
        clock.tick(wait)
        send_all(store, channel, clock)
    assert [state for state, _ in states(store)] == ["delivered", "dead", "delivered", "dead", "delivered"]
    numbers = [one.number for one in parcels(store)]
    others = len(channel.sequences("t"))
    channel.answer = lambda parcel: OK
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
    channel = Recorder(answer=lambda parcel: FAILED)
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
        channel.answer = lambda parcel: OK
        await settled(outbox)

    play(outbox, through())
    assert len(channel.sent) == 3
    assert states(store) == [("delivered", 1)]


def test_a_digest_by_count_and_by_time(store: Store, clock: Clock) -> None:
    with_channels(store, "s", digest={"count": 3, "seconds": 60})
    positions = find(store, "s", many=4)
    channel = Recorder()
    send_all(store, channel, clock)
    (full,) = channel.sent
    assert [owed.sequence for owed in full.owed] == [1, 2, 3]
    assert full.is_digest
    assert (full.id, [owed.id for owed in full.owed]) == ("digest.1.s", [f"{at}.s" for at in positions[:3]])
    clock.tick(30)
    find(store, "s")
    send_all(store, channel, clock)
    clock.tick(29)
    send_all(store, channel, clock)
    assert len(channel.sent) == 1
    clock.tick(1)
    send_all(store, channel, clock)
    assert [[owed.sequence for owed in parcel.owed] for parcel in channel.sent] == [[1, 2, 3], [4, 5]]
    assert [one.open for one in parcels(store)] == [False, False]


def test_a_digest_of_one_is_a_plain_notification(store: Store, clock: Clock) -> None:
    with_channels(store, "s", digest={"seconds": 60})
    (position,) = find(store, "s")
    clock.tick(60)
    channel = Recorder()
    send_all(store, channel, clock)
    clock.tick(60)
    send_all(store, channel, clock)
    assert [parcel.id for parcel in channel.sent] == [f"{position}.s"]


def test_a_digest_goes_on_collecting_while_paused(store: Store, clock: Clock) -> None:
    with_channels(store, "s", digest={"count": 3})
    channel = Recorder()
    find(store, "s")
    send_all(store, channel, clock)
    store.change_channel("s", OWNER, state="paused")
    find(store, "s", many=3)
    send_all(store, channel, clock)
    assert channel.sent == []
    store.change_channel("s", OWNER, state="active")
    send_all(store, channel, clock)
    assert [len(parcel.owed) for parcel in channel.sent] == [3, 1]
    assert channel.sequences() == [1, 2, 3, 4]


def test_a_rate_delays_and_keeps_the_order(store: Store, clock: Clock) -> None:
    with_channels(store, "s", rate={"count": 2, "seconds": 60})
    find(store, "s", many=5)
    channel = Recorder()
    outbox = outbox_of(store, channel, clock)

    async def through() -> None:
        for _ in range(5):
            await settled(outbox)
            clock.tick(30)

    play(outbox, through())
    assert [(time - START) // 1_000_000 for time in channel.times] == [0, 0, 60, 60, 120]
    assert channel.sequences() == [1, 2, 3, 4, 5]


def test_a_rate_holds_after_a_pause_and_after_an_outage(store: Store, clock: Clock) -> None:
    with_channels(store, "s", rate={"count": 1, "seconds": 60})
    find(store, "s", many=4)
    channel = Recorder()
    send_all(store, channel, clock)
    clock.tick(3_600)  # nobody sent for an hour: all are late
    outbox = outbox_of(store, channel, clock)

    async def through() -> None:
        await settled(outbox)
        assert channel.sequences() == [1, 2]
        store.change_channel("s", OWNER, state="paused")
        clock.tick(3_600)
        await settled(outbox)
        store.change_channel("s", OWNER, state="active")
        await settled(outbox)
        assert channel.sequences() == [1, 2, 3]
        clock.tick(60)
        await settled(outbox)

    play(outbox, through())
    assert channel.sequences() == [1, 2, 3, 4]


def test_quiet_hours_delay_first_attempts_and_retries(store: Store, clock: Clock) -> None:
    with_channels(store, "s", quiet={"from": "10:00", "to": "12:00", "zone": "UTC"})
    find(store, "s")  # it is ten
    channel = Recorder(answer=lambda parcel: FAILED)
    send_all(store, channel, clock)
    noon = Instant.parse("2026-05-01T12:00:00Z")
    assert channel.sent == []
    assert parcels(store)[0].due == noon
    clock.time = noon
    send_all(store, channel, clock)
    assert channel.times == [noon]
    clock.time = Instant.parse("2026-05-02T09:59:58Z")
    find(store, "s")
    send_all(store, channel, clock)
    assert parcels(store)[1].due == Instant.parse("2026-05-02T12:00:00Z")  # 5 s later is quiet


def test_quiet_hours_count_where_the_outbox_comes_late(store: Store, clock: Clock) -> None:
    with_channels(store, "s", quiet={"from": "11:00", "to": "12:00", "zone": "UTC"})
    find(store, "s")
    channel = Recorder()
    store.take_lease("other", Instant(clock.time + 1), clock.time)
    store.spread("other", clock.time, 100, rhythm_of_text)
    clock.tick(3_601)
    outbox = outbox_of(store, channel, clock)

    async def through() -> None:
        await settled(outbox)
        assert channel.sent == []
        clock.tick(3_599)
        await settled(outbox)

    play(outbox, through())
    assert channel.times == [Instant.parse("2026-05-01T12:00:00Z")]


def test_new_settings_count_for_what_waits(store: Store, clock: Clock) -> None:
    with_channels(store, "s", quiet={"from": "10:00", "to": "12:00", "zone": "UTC"})
    find(store, "s", many=2)
    channel = Recorder()
    outbox = outbox_of(store, channel, clock)

    async def through() -> None:
        await settled(outbox)
        store.change_channel("s", OWNER, settings={"address": "elsewhere"})
        await settled(outbox)

    play(outbox, through())
    assert channel.sequences() == [1, 2]
    assert {settings["address"] for settings in channel.settings} == {"elsewhere"}


def test_secrets_that_have_run_out_do_not_sign(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    store.change_channel("s", OWNER, secrets=(("new", None), ("old", Instant(clock.time + 1))))
    find(store, "s")
    channel = Recorder()
    send_all(store, channel, clock)
    clock.tick(1)
    find(store, "s")
    send_all(store, channel, clock)
    assert [settings["secrets"] for settings in channel.settings] == [["new", "old"], ["new"]]


def test_one_that_hangs_delays_nobody_else(store: Store, clock: Clock) -> None:
    slow = [f"slow{number}" for number in range(40)]
    with_channels(store, *slow, url="https://slow.example/hook")
    with_channels(store, "s")
    find(store, *slow, "s", many=30)
    channel = Recorder()
    outbox = outbox_of(store, channel, clock, Limits(page=100, lane=5, run=3, ahead=10))

    async def through() -> None:
        channel.hanging = {id: asyncio.Event() for id in slow}
        await settled(outbox, hanging=20)
        assert channel.sequences("s") == list(range(1, 31))
        assert channel.under_way == 20  # of one destination
        events, channel.hanging = channel.hanging, {}
        for event in events.values():
            event.set()
        await settled(outbox)

    play(outbox, through())
    assert len(channel.sent) == 41 * 30
    for id in slow:
        assert channel.sequences(id) == list(range(1, 31))


def test_a_defect_of_a_channel_is_a_failed_attempt(
    store: Store, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    with_channels(store, "s", "t")
    find(store, "s", "t")

    def broken(parcel: Parcel) -> Attempt:
        if parcel.subscription == "s":
            raise ZeroDivisionError("a\0b")
        return OK

    with caplog.at_level(logging.ERROR):
        send_all(store, Recorder(answer=broken), clock)
    assert states(store) == [("due", 1)]
    assert states(store, "t") == [("delivered", 1)]
    (attempt,) = store.attempts_of(parcels(store)[0].number)
    assert attempt.problem == "the record channel failed: ZeroDivisionError: a�b"
    assert "failed to send parcel" in caplog.text


def test_a_kind_that_is_not_set_up_here_is_a_failed_attempt(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    send_all(store, Recorder(kind="recorder"), clock)
    (attempt,) = store.attempts_of(parcels(store)[0].number)
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
    (attempt,) = store.attempts_of(parcels(store)[0].number)
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
        assert store.take_lease("two", Instant(clock.time + 99), Instant(clock.time + 20_000_000))
        first.hanging["s"].set()
        for _ in range(5):
            await asyncio.sleep(0)
        assert one.under_way == 1
        await one.turn()
        assert (one.is_leading, states(store)) == (False, [("due", 0)])
        await settled(two)
        await one.close()

    play(two, through())
    assert [parcel.id for parcel in first.sent] == [parcel.id for parcel in second.sent]
    assert states(store) == [("delivered", 1)]
    assert "may not send any more: two holds the lease" in caplog.text
    with pytest.raises(LeaseLost):
        store.spread("one", clock.time, 10, lambda text: None)  # type: ignore[arg-type, return-value]


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
    now = time_now()
    assert store.take_lease("another", now, now)  # 15 s before the old one would have run out


def test_deliveries_are_forgotten_after_a_while(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=2)
    send_all(store, Recorder(answer=lambda parcel: OK if parcel.owed[0].sequence == 1 else FAILED), clock)
    first = parcels(store)[0].number
    assert len(store.attempts_of(first)) == 1
    clock.tick(31 * DAY)
    send_all(store, Recorder(answer=lambda parcel: FAILED), clock)
    assert states(store) == [("due", 2)]
    assert store.attempts_of(first) == []
