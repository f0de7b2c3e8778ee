"""What a channel is owed that nobody resumes is given up in the end, and holds no event back any more."""

from tests.notifying.owing import OWNER, find, with_channels
from tests.store.samples import Clock
from tests.store.test_channels import create, settle
from tests.store.test_channels import done as result
from tidings.schema import Instant
from tidings.store import Store

MONTH = 30 * 86_400


def before(clock: Clock) -> Instant:
    return Instant(clock.time - MONTH * 1_000_000)


def test_what_a_paused_channel_is_owed_is_given_up_after_a_month(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=2)
    create(store, clock)
    store.change_channel("s", OWNER, state="paused")
    clock.tick(MONTH)
    (young,) = find(store, "s")
    create(store, clock)
    assert store.sweep(before(clock)) == 0  # a month to the second
    assert store.trim(most_bytes=0) == 0
    clock.tick()
    assert store.sweep(before(clock)) == 2
    assert [one.state for one in store.deliveries_of("s", OWNER, newest=False)] == ["dead", "dead", "due"]
    (last,) = store.attempts_of(1)
    assert (last.ok, last.problem) == (False, "its channel was not resumed in time, so it was given up")
    assert [(one.kind, one.dead, one.attempts) for one in store.delivery_figures()] == [("record", 2, 0)]
    assert store.owed_from() == young
    assert store.trim(most_bytes=0) == 2


def test_it_can_be_sent_once_more_while_its_events_are_there(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    create(store, clock)
    settle(store, clock, result(1, ok=False, problem="no", due=clock.time, gone=True))
    clock.tick(MONTH + 1)
    assert store.sweep(before(clock)) == 2  # with the notice that it was disabled
    assert store.replay("s", OWNER, [1]) == 1
    assert store.sweep(before(clock)) == 0  # it is old, but was asked for just now
    store.change_channel("s", OWNER, state="active")
    assert create(store, clock) == [("s", 1)]


def test_what_an_active_channel_is_owed_stays_owed(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    create(store, clock)
    store.change_channel("s", OWNER, state="paused")
    store.change_channel("s", OWNER, state="active")  # what was held is let go by the outbox, which is away
    clock.tick(MONTH + 1)
    assert store.sweep(before(clock)) == 0
    assert create(store, clock) == [("s", 1)]


def test_a_digest_that_was_given_up_takes_no_more(store: Store, clock: Clock) -> None:
    with_channels(store, "s", digest={"count": 5})
    find(store, "s", many=2)
    create(store, clock)
    store.change_channel("s", OWNER, state="disabled")
    clock.tick(MONTH + 86_401)
    assert store.sweep(before(clock)) == 1
    find(store, "s")
    create(store, clock)
    digests = store.deliveries_of("s", OWNER, newest=False)
    assert [(one.state, one.open, len(one.items)) for one in digests] == [("dead", False, 2), ("due", True, 1)]
