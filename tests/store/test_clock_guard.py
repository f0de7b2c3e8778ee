"""A clock that is wrong destroys nothing: what it says is compared with the time that has really passed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notifying.owing import FAILED, Recorder, deliveries, find, play, send_all, settled, states, with_channels
from tests.store.batches import commit_batch
from tests.store.samples import START, SteadyClock, positions, publish, with_schema
from tests.store.test_notifications import table
from tidings.notifying.outbox.outbox import Outbox
from tidings.schema import Instant
from tidings.store import SCOPES, Account, ClockJumped, Edit, Retention, RetentionDays, Store, Subscribe, import_journal
from tidings.store import export_journal as export
from tidings.store.clock.clock import OFFSET_FILE, now

MINUTE, HOUR, DAY = 60, 3_600, 86_400
YEAR = 365 * DAY
JUMPS = [sign * size for sign in (1, -1) for size in (2 * MINUTE, HOUR, DAY, 40 * DAY, YEAR)]


@pytest.fixture
def clock() -> SteadyClock:
    return SteadyClock()


@pytest.fixture
def others(url: str, store: Store, clock: SteadyClock) -> Iterator[Store]:
    """Another process on the same host."""
    with Store.open(url, clock) as opened:
        yield opened


def later(seconds: float) -> Instant:
    return Instant(START + int(seconds * 1_000_000))


@pytest.mark.parametrize("jump", JUMPS)
def test_a_jump_is_refused_until_the_clock_is_right_again(store: Store, clock: SteadyClock, jump: int) -> None:
    with_schema(store).append([Subscribe("s", "price < 99", expiry=later(30 * DAY))])
    clock.tick(10)
    clock.jump(jump)
    with pytest.raises(
        ClockJumped, match=r"^the clock jumped (forward|back) by .* should say about 2026-05-01T10:00:10"
    ):
        store.append([publish("e1")])
    with pytest.raises(ClockJumped):
        store.append([])
    assert [one.id for one in store.subscriptions()] == ["s"], "it has 30 days left"
    clock.tick(3)
    clock.jump(-jump)
    assert positions(store.append([publish("e1")])) == [7]
    assert [entry.accepted for entry in store.entries(6)] == [later(13)]
    assert positions(store.append([Edit("s", expiry=later(DAY))])) == [8], "an expiry before next year can be given"


@pytest.mark.parametrize("jump", JUMPS)
def test_a_jump_for_good_counts_once_an_operator_confirms_it(store: Store, clock: SteadyClock, jump: int) -> None:
    with_schema(store)
    clock.tick(10)
    clock.jump(jump)
    for _ in range(3):
        clock.tick(DAY)  # waiting does not help: it must not be taken for the truth in the end
        with pytest.raises(ClockJumped):
            store.append([publish("e1")])
    reading = store.confirm_clock()
    assert (reading.said, reading.jump) == (clock.time, jump * 1_000_000)
    assert positions(store.append([publish("e1")])) == [6]
    assert [entry.accepted for entry in store.entries(5)] == [max(START, clock.time)], "times never decrease"
    clock.tick(DAY)
    assert positions(store.append([publish("e2")])) == [7]


@pytest.mark.parametrize("jump", JUMPS)
def test_a_process_that_starts_during_a_jump_knows_it_too(
    url: str, store: Store, clock: SteadyClock, jump: int
) -> None:
    with_schema(store)
    clock.tick(HOUR)
    clock.jump(jump)
    with Store.open(url, clock) as other:
        assert other.clock.now() == later(HOUR)
        assert not other.clock.look().is_right
        with pytest.raises(ClockJumped):
            other.append([publish("e1")])
        other.confirm_clock()
    assert positions(store.append([publish("e1")])) == [6], "what one process confirms, all believe"


def test_a_time_server_may_correct_the_clock(store: Store, clock: SteadyClock) -> None:
    with_schema(store)
    for number, correction in enumerate((59, -59, 59, 59, -59)):
        clock.tick(2 * MINUTE)
        clock.jump(correction)
        assert positions(store.append([publish(f"e{number}")])) == [6 + number]
        assert store.clock.now() == clock.time


def test_a_long_quiet_time_is_no_jump(url: str, store: Store, clock: SteadyClock) -> None:
    with_schema(store)
    clock.tick(2 * YEAR)
    assert positions(store.append([publish("e1")])) == [6]
    with Store.open(url, clock) as other:
        assert positions(other.append([publish("e2")])) == [7]


@pytest.mark.parametrize(
    ("gap", "is_right"),
    [(0, True), (MINUTE, True), (29 * DAY, True), (31 * DAY, False), (YEAR, False), (-59, True), (-2 * MINUTE, False)],
)
def test_after_a_reboot_some_time_may_have_passed(
    url: str, store: Store, clock: SteadyClock, gap: int, is_right: bool
) -> None:
    with_schema(store)
    clock.reboot("boot 2", gap)
    with Store.open(url, clock) as other:
        assert other.clock.look().is_right == is_right
        if is_right:
            assert positions(other.append([publish("e1")])) == [6]
            clock.jump(DAY)
        with pytest.raises(ClockJumped):
            other.append([publish("e2")])
        if not is_right:
            clock.tick(MINUTE)
            assert other.clock.now() == later(MINUTE), "time goes on from the latest that is known"
            clock.jump(-gap)
            assert positions(other.append([publish("e2")])) == [6]


def test_the_clock_of_another_host_is_not_compared_with_this_one(url: str, store: Store, clock: SteadyClock) -> None:
    with_schema(store)
    elsewhere = SteadyClock()
    elsewhere.boot, elsewhere.elapsed = "host 2", 77
    with Store.open(url, elsewhere) as other:
        for number in range(4):
            clock.tick(HOUR)
            elsewhere.tick(HOUR)
            assert positions(store.append([publish(f"a{number}")])) == [6 + 2 * number]
            assert positions(other.append([publish(f"b{number}")])) == [7 + 2 * number]
        for one in (clock, elsewhere):
            one.jump(YEAR)
        for one in (store, other):
            with pytest.raises(ClockJumped):
                one.append([publish("c")])
        other.confirm_clock()
        assert store.clock.look().is_right


def new_host(clock: SteadyClock, name: str = "host 2") -> SteadyClock:
    """Its clock says the same: that of the server, or one set by the same time service."""
    other = SteadyClock()
    other.boot, other.elapsed, other.time = name, 77, clock.time
    return other


@pytest.mark.parametrize("jump", [2 * MINUTE, HOUR, 20 * DAY, YEAR])
@pytest.mark.parametrize("seen_by", ["append", "lease", "look"])
def test_a_new_host_refuses_while_another_sees_a_jump(
    url: str, store: Store, clock: SteadyClock, jump: int, seen_by: str
) -> None:
    with_schema(store).append([Subscribe("s", "price < 99", expiry=later(10 * DAY))])
    clock.tick(10)
    clock.jump(jump)
    if seen_by == "append":
        with pytest.raises(ClockJumped):
            store.append([publish("e1")])
    elif seen_by == "lease":
        store.take_pipeline_lease("one", 15)
    else:
        store.clock.look()
    elsewhere = new_host(clock)
    with Store.open(url, elsewhere) as other:
        with pytest.raises(ClockJumped):
            other.append([publish("e1")])
        with pytest.raises(ClockJumped):
            other.sweep(other.now())
        for host in (clock, elsewhere):
            host.tick(3 * MINUTE)
            host.jump(-jump)
        assert positions(store.append([publish("e1")])) == [7], "it says that the clock is right again"
        assert positions(other.append([publish("e2")])) == [8]
    clock.tick(3 * MINUTE)
    with Store.open(url, new_host(clock, "host 3")) as other:
        assert positions(other.append([publish("e3")])) == [9]
    assert [entry.accepted for entry in store.entries(6)] == [later(190), later(190), later(370)]
    assert [one.id for one in store.subscriptions()] == ["s"], "it has 10 days left"


def test_operators_are_told_once_for_each_jump(store: Store, clock: SteadyClock) -> None:
    for name, scopes in (("olga", SCOPES), ("ann", frozenset({"subscribe"}))):
        store.add_account(Account(name, "", scopes, later(0)))
    with_schema(store)
    for number in (1, 2):
        clock.jump(DAY)
        for _ in range(2):
            store.clock.look()
            store.take_pipeline_lease("one", 15)
        assert [one.text[:48] for one in store.notices_of("olga")] == [
            "The clock jumped forward by 1 day, 0:00:00: it s"
        ] * number
        clock.jump(-DAY)
        store.clock.look()
    assert store.notices_of("ann") == []


def test_a_new_host_that_has_only_read_refuses_too(url: str, store: Store, clock: SteadyClock) -> None:
    with_schema(store)
    clock.jump(20 * DAY)
    with Store.open(url, new_host(clock)) as other:
        assert other.clock.look().is_right, "nobody has seen the jump yet: it may be a long pause"
        store.clock.look()
        with pytest.raises(ClockJumped):
            other.append([publish("e1")])


def test_a_new_host_goes_by_what_an_operator_confirms(url: str, store: Store, clock: SteadyClock) -> None:
    with_schema(store)
    clock.jump(20 * DAY)
    store.clock.look()
    elsewhere = new_host(clock)
    with Store.open(url, elsewhere) as other:
        assert not other.clock.look().is_right
        store.confirm_clock()
        assert positions(other.append([publish("e1")])) == [6]
        clock.tick(MINUTE)
        assert positions(store.append([publish("e2")])) == [7]


def test_a_new_host_is_not_held_by_the_journal_where_an_earlier_time_was_confirmed(
    url: str, store: Store, clock: SteadyClock
) -> None:
    with_schema(store)
    clock.jump(-YEAR)
    store.confirm_clock()
    with Store.open(url, new_host(clock)) as other:
        assert positions(other.append([publish("e1")])) == [6]


def test_hosts_that_see_no_jump_are_not_put_wrong_where_one_is_confirmed(
    url: str, store: Store, clock: SteadyClock
) -> None:
    """A virtual machine was paused: time since its boot stood still for an hour."""
    with_schema(store)
    elsewhere = new_host(clock)
    with Store.open(url, elsewhere) as other:
        assert positions(other.append([publish("e1")])) == [6]
        elsewhere.tick(HOUR)
        clock.jump(HOUR)
        assert positions(other.append([publish("e2")])) == [7]
        assert not store.clock.look().is_right
        assert positions(other.append([publish("e3")])) == [8], "what another sees does not hold one with an anchor"
        store.confirm_clock()
        assert other.clock.look().is_right
        assert positions(other.append([publish("e4")])) == [9]
        assert positions(store.append([publish("e5")])) == [10]


def test_nothing_is_deleted_by_a_clock_a_year_ahead(store: Store, clock: SteadyClock) -> None:
    with_schema(store)
    store.append([publish(f"e{number}") for number in range(200)])
    commit_batch(store, 1, 205, table((6, ["s"])))
    clock.jump(YEAR)
    with pytest.raises(ClockJumped):
        store.trim(Instant(clock.time - 30 * DAY * 1_000_000))
    with pytest.raises(ClockJumped):
        store.sweep(Instant(clock.time - 30 * DAY * 1_000_000))
    assert store.figures().events == 200
    assert store.trim(most_bytes=0) == 200, "by size, no clock is needed"


@pytest.mark.parametrize("jump", JUMPS)
def test_an_outbox_sends_on_and_gives_nothing_up(store: Store, clock: SteadyClock, jump: int) -> None:
    with_channels(store, "awake", "asleep")
    find(store, "asleep", many=3)
    send_all(store, Recorder(answer=lambda delivery: FAILED), clock)
    store.change_channel("asleep", state="paused")
    find(store, "awake", "asleep", many=2)
    clock.jump(jump)
    channel = Recorder()
    play(outbox := Outbox(store, {"record": channel}), settled(outbox))
    assert Retention(store, RetentionDays(events=30, keys=30, dead_letters=30)).round() == 0
    assert channel.sequences("awake") == [1, 2]
    clock.tick(3)
    clock.jump(-jump)
    assert states(store, "asleep") == [("due", 1)] * 3 + [("due", 0)] * 2
    assert store.figures().events == 5
    assert all(one.due <= store.clock.now() + DAY * 1_000_000 for one in deliveries(store, "asleep"))


@pytest.mark.parametrize("jump", JUMPS)
def test_no_lease_stands_in_the_far_future(store: Store, others: Store, clock: SteadyClock, jump: int) -> None:
    assert store.take_lease("one", 15)
    clock.tick(5)
    clock.jump(jump)
    assert store.take_lease("one", 15)
    clock.tick(3)
    assert not others.take_lease("two", 15)
    clock.jump(-jump)
    assert not others.take_lease("two", 15)
    clock.tick(13)
    assert others.take_lease("two", 15), "15 s after the last renewal, whatever the clock said then"


def test_a_lease_that_no_outbox_can_have_taken_does_not_count(store: Store) -> None:
    assert store.take_lease("one", 15)
    with store.database.writing("outbox") as connection:
        connection.exec_driver_sql(f"UPDATE leases SET until = {START + DAY * 1_000_000}")
    assert store.take_lease("two", 15)


def test_retries_wait_no_longer_where_a_clock_that_was_ahead_is_confirmed(store: Store, clock: SteadyClock) -> None:
    with_channels(store, "s")
    find(store, "s")
    send_all(store, Recorder(answer=lambda delivery: FAILED), clock)
    (before,) = deliveries(store)
    clock.jump(-YEAR)
    store.confirm_clock()
    (after,) = deliveries(store)
    assert after.due == before.due - YEAR * 1_000_000


def test_an_old_journal_may_be_imported(url: str, store: Store, clock: SteadyClock, tmp_path: Path) -> None:
    with_schema(store)
    export(store, tmp_path / "journal")
    clock.tick(YEAR)
    with Store.open(tmp_path / "new.db", clock) as new:
        import_journal(tmp_path / "journal", new)
        assert positions(new.append([publish("e1")])) == [6]


def test_the_time_is_that_of_the_server_or_of_this_host(
    url: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a test can make it wrong for all processes."""
    file = tmp_path / "offset"
    monkeypatch.setenv(OFFSET_FILE, str(file))
    with Store.open(url) as real:
        with_schema(real)
        assert abs(real.clock.now() - now()) < 5_000_000
        file.write_text(str(DAY))
        assert abs(real.clock.look().jump - DAY * 1_000_000) < 5_000_000
        with pytest.raises(ClockJumped):
            real.append([publish("e1")])
        file.write_text("0")
        assert positions(real.append([publish("e1")])) == [6]
