"""Channels: made, replaced, changed, ended; what they hold back and let go; notices and the operator's view."""

import pickle

import pytest

from tests.notifying.owing import OWNER, find, with_channels
from tests.store.samples import START, Clock
from tidings.notifying.outbox.delivery_sender import rhythm_of_text
from tidings.notifying.outbox.schedule import gives_up
from tidings.schema import Instant
from tidings.store import AttemptResult, LeaseLost, NoSuchChannel, NoSuchDelivery, Store, StoredChannel, Withdraw

HOUR = 3_600_000_000


def take(store: Store, holder: str = "one") -> str:
    assert store.take_lease(holder, 300)
    return holder


def create(store: Store, clock: Clock) -> list[tuple[str, int]]:
    """All that can be, and then what is due, as pairs of subscription and number."""
    while store.create_deliveries(take(store), clock.time, 100, rhythm_of_text):
        pass
    assert not store.has_deliveries_to_create(clock.time)
    return [(one.subscription, one.number) for one in store.due(clock.time, 1_000)]


def settle(store: Store, clock: Clock, *results: AttemptResult) -> None:
    store.record_results("one", results, clock.time, gives_up)


def done(number: int, attempts: int = 0, **members: object) -> AttemptResult:
    return AttemptResult(number, attempts, START, 0.5, **({"ok": True, "request": "r"} | members))  # type: ignore[arg-type]


def test_a_channel_is_kept_as_it_was_given(store: Store, clock: Clock) -> None:
    assert store.channel("s") is None
    given = StoredChannel(
        "s",
        "ann",
        "webhook",
        {"url": "https://example.org/ä", "rate": {"count": 1, "seconds": 2}},
        "unconfirmed",
        "no answer",
        (("whsec_b", None), ("whsec_a", Instant(START + HOUR))),
    )
    made = store.set_channel(given)
    assert made == store.channel("s") == store.channel("s", "ann")
    assert (made.kind, made.settings, made.state, made.reason) == (
        "webhook",
        given.settings,
        "unconfirmed",
        "no answer",
    )
    assert (made.secrets, made.changed, made.sequence) == (given.secrets, START, 0)
    assert made.secrets_at(START) == ["whsec_b", "whsec_a"]
    assert made.secrets_at(Instant(START + HOUR)) == ["whsec_b"]
    assert "whsec" not in repr(made)
    assert "example" not in repr(made)
    assert store.channel("s", "bob") is None
    assert pickle.loads(pickle.dumps(made)) == made


def test_what_is_not_there_is_told(store: Store) -> None:
    with pytest.raises(NoSuchChannel, match="subscription 's' has no channel"):
        store.change_channel("s", "ann", state="paused")
    with pytest.raises(NoSuchChannel):
        store.replay("s", "ann", failed=True)
    with pytest.raises(NoSuchDelivery, match="no delivery 7"):
        store.delivery(7, "ann")
    assert not store.remove_channel("s", "ann")
    for error in (NoSuchChannel("s"), NoSuchDelivery(7), LeaseLost("outbox", "a", "b")):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_another_owner_cannot_reach_it(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s")
    ((_, number),) = create(store, clock)
    with pytest.raises(NoSuchChannel):
        store.change_channel("s", "bob", state="paused")
    with pytest.raises(NoSuchChannel):
        store.replay("s", "bob", [number])
    with pytest.raises(NoSuchDelivery):
        store.delivery(number, "bob")
    assert store.deliveries_of("s", "bob") == []
    assert store.delivery(number, OWNER).number == number


def test_one_that_is_replaced_goes_on_counting_and_owes_what_it_owed(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=2)
    create(store, clock)
    find(store, "s")  # no delivery yet
    again = store.set_channel(StoredChannel("s", OWNER, "email", {"address": "a@example.org"}))
    assert (again.kind, again.sequence) == ("email", 2)
    assert create(store, clock) == [("s", 1), ("s", 2), ("s", 3)]
    assert [[item.sequence for item in one.items] for one in store.deliveries_of("s", OWNER)] == [[3], [2], [1]]


def test_one_that_ends_still_owes_what_was_found(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=2)
    assert store.remove_channel("s", OWNER)
    assert store.channel("s") is None
    find(store, "s")
    assert [number for _, number in create(store, clock)] == [1, 2]
    store.set_channel(StoredChannel("s", OWNER, "record", {}))
    find(store, "s")
    assert [number for _, number in create(store, clock)] == [1, 2, 3]
    assert store.channel("s").sequence == 3  # type: ignore[union-attr]


def test_paused_ones_hold_and_let_go_in_order(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    find(store, "s", "t", many=2)
    assert [id for id, _ in create(store, clock)] == ["s", "t", "s", "t"]
    store.change_channel("s", OWNER, state="paused", reason="by the owner")
    assert [id for id, _ in create(store, clock)] == ["t", "t"]
    find(store, "s")
    create(store, clock)
    assert [(one.state, one.held) for one in store.deliveries_of("s", OWNER)] == [("due", True)] * 3
    clock.tick()
    assert store.change_channel("s", OWNER, state="active").reason == ""
    assert store.has_deliveries_to_create(clock.time)
    waiting = create(store, clock)
    assert [number for id, number in waiting if id == "s"] == [1, 3, 5]


def test_many_that_were_held_are_let_go_in_pieces_and_not_passed(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    store.change_channel("s", OWNER, state="paused")
    find(store, "s", many=25)
    create(store, clock)
    store.change_channel("s", OWNER, state="active")
    find(store, "s", many=5)
    holder, seen = take(store), []
    while store.create_deliveries(holder, clock.time, 10, rhythm_of_text):
        seen.append([number for _, number in [(one.subscription, one.number) for one in store.due(clock.time, 99)]])
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in seen)
    assert seen[-1] == list(range(1, 31))


def test_health_notices_and_the_operators_view(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t", "u")
    find(store, "s", "t", "u", many=3)
    numbers: dict[str, list[int]] = {}
    for id, number in create(store, clock):
        numbers.setdefault(id, []).append(number)
    failed = {"ok": False, "problem": "no", "due": Instant(START + HOUR)}
    settle(store, clock, done(numbers["s"][0], **failed), done(numbers["t"][0]))
    (ill,) = store.troubled()
    assert (ill.subscription, ill.failing_since, ill.problem, ill.seconds) == ("s", START, "no", 0.5)
    gone = {"ok": False, "problem": "gone", "gone": True, "due": Instant(START + HOUR)}
    settle(store, clock, done(numbers["s"][1], **gone), done(numbers["s"][2], **gone))
    (notice,) = store.notices_of(OWNER)
    assert notice.text.startswith("Sending by record was stopped: gone. Pending deliveries are kept")
    assert (notice.number, notice.stored, notice.seen) == (1, START, False)
    assert store.notices_of("bob") == store.notices_of(OWNER, after=1) == []
    assert store.see_notices(OWNER, 1) == 1
    assert store.see_notices(OWNER, 1) == 0
    assert store.notices_of(OWNER)[0].seen
    assert {one.state for one in store.deliveries_of("s", OWNER)} == {"due"}
    clock.tick(7_200)
    assert {id for id, _ in create(store, clock)} == {"t", "u"}
    slow = AttemptResult(numbers["u"][0], 0, START, 9.0, True, "r")
    settle(store, clock, slow)
    assert [(one.subscription, one.state) for one in store.troubled()] == [("s", "disabled"), ("u", "active")]
    (figures,) = store.delivery_figures()
    assert (figures.kind, figures.due, figures.delivered, figures.dead) == ("record", 7, 2, 0)
    assert (figures.attempts, figures.failures, figures.seconds) == (5, 3, 11.0)


def test_the_lease_is_one_outboxes_at_a_time(store: Store, clock: Clock) -> None:
    assert store.take_lease("one", 15)
    assert not store.take_lease("two", 15)
    assert store.take_lease("one", 15)
    clock.tick(14)
    assert not store.take_lease("two", 15)
    clock.tick()
    assert store.take_lease("two", 15)
    assert not store.take_lease("one", 15)
    with pytest.raises(LeaseLost, match="the outbox one lost its lease to two"):
        store.record_results("one", [], START, gives_up)
    with pytest.raises(LeaseLost):
        store.create_deliveries("one", START, 10, rhythm_of_text)
    assert store.take_lease("two", 0)  # given back
    assert store.take_lease("one", 15)


def test_channels_that_nobody_needs_go_with_their_last_delivery(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t", "u")
    find(store, "s", "t")
    for _, number in create(store, clock):
        settle(store, clock, done(number))
    store.append([Withdraw("s"), Withdraw("u")])
    clock.tick(86_400 * 2)
    assert store.sweep(clock.time) == 2
    assert store.channel("s") is not None  # the pipeline may still find something up to its end
    find(store, "t")
    create(store, clock)
    assert store.sweep(clock.time) == 0
    assert store.channel("s") is None
    assert store.channel("u") is None
    assert store.channel("t") is not None
