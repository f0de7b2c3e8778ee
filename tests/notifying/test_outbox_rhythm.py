"""Digests, rates and quiet hours: they delay, in order, and lose nothing. The clock stands until it is set."""

from tests.notifying.owing import (
    FAILED,
    OWNER,
    Recorder,
    deliveries,
    find,
    outbox_of,
    play,
    send_all,
    settled,
    with_channels,
)
from tests.store.samples import START, Clock
from tidings.notifying.outbox.delivery_sender import rhythm_of_text
from tidings.schema import Instant
from tidings.store import Store
from tidings.store.notifications.notification_id import digest_id, notification_id


def test_a_digest_by_count_and_by_time(store: Store, clock: Clock) -> None:
    with_channels(store, "s", digest={"count": 3, "seconds": 60})
    positions = find(store, "s", many=4)
    channel = Recorder()
    send_all(store, channel, clock)
    (full,) = channel.sent
    assert [owed.sequence for owed in full.owed] == [1, 2, 3]
    assert full.is_digest
    ids = [notification_id("s", "", f"e{at}") for at in positions[:3]]
    assert (full.id, [owed.id for owed in full.owed]) == (digest_id(ids), ids)
    clock.tick(30)
    find(store, "s")
    send_all(store, channel, clock)
    clock.tick(29)
    send_all(store, channel, clock)
    assert len(channel.sent) == 1
    clock.tick(1)
    send_all(store, channel, clock)
    assert [[owed.sequence for owed in delivery.owed] for delivery in channel.sent] == [[1, 2, 3], [4, 5]]
    assert [one.open for one in deliveries(store)] == [False, False]


def test_a_digest_of_one_is_a_plain_notification(store: Store, clock: Clock) -> None:
    with_channels(store, "s", digest={"seconds": 60})
    (position,) = find(store, "s")
    clock.tick(60)
    channel = Recorder()
    send_all(store, channel, clock)
    clock.tick(60)
    send_all(store, channel, clock)
    assert [delivery.id for delivery in channel.sent] == [notification_id("s", "", f"e{position}")]


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
    assert [len(delivery.owed) for delivery in channel.sent] == [3, 1]
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
    channel = Recorder(answer=lambda delivery: FAILED)
    send_all(store, channel, clock)
    noon = Instant.parse("2026-05-01T12:00:00Z")
    assert channel.sent == []
    assert deliveries(store)[0].due == noon
    clock.time = noon
    send_all(store, channel, clock)
    assert channel.times == [noon]
    clock.time = Instant.parse("2026-05-02T09:59:58Z")
    find(store, "s")
    send_all(store, channel, clock)
    assert deliveries(store)[1].due == Instant.parse("2026-05-02T12:00:00Z")  # 5 s later is quiet


def test_quiet_hours_count_where_the_outbox_comes_late(store: Store, clock: Clock) -> None:
    with_channels(store, "s", quiet={"from": "11:00", "to": "12:00", "zone": "UTC"})
    find(store, "s")
    channel = Recorder()
    store.take_lease("other", 0.000001)
    store.create_deliveries("other", clock.time, 100, rhythm_of_text)
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
