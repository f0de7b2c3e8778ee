"""A delivery that ends as a dead letter leaves a notice: one for each channel and cause, which counts."""

from tests.notifying.owing import OWNER, find, with_channels
from tests.store.samples import START, Clock
from tests.store.test_channels import create, done, settle
from tidings.schema import Instant
from tidings.store import Store


def given_up(store: Store, clock: Clock, cause: str, *ids: str, many: int = 1) -> None:
    """So many deliveries of each of these end as dead letters."""
    find(store, *ids, many=many)
    settle(store, clock, *(done(number, ok=False, problem=cause) for _, number in create(store, clock)))


def told(store: Store) -> list[tuple[str, str, int, bool]]:
    return [(one.subscription, one.cause, one.count, one.seen) for one in store.notices_of(OWNER)]


def test_one_notice_for_each_channel_and_cause_counts_until_it_is_read(store: Store, clock: Clock) -> None:
    with_channels(store, "s", "t")
    given_up(store, clock, "it answered 500", "s")
    (notice,) = store.notices_of(OWNER)
    assert notice.text == "1 delivery by record failed: it answered 500. Send it again once this is fixed."
    assert (notice.number, notice.stored, notice.seen) == (1, START, False)
    later = clock.tick(60)
    given_up(store, clock, "it answered 500", "s", "t", many=2)
    given_up(store, clock, "it answered 404", "s")
    assert told(store) == [
        ("s", "it answered 500", 3, False), ("t", "it answered 500", 2, False), ("s", "it answered 404", 1, False),
    ]  # fmt: skip
    first = store.notices_of(OWNER)[0]
    assert first.text == "3 deliveries by record failed: it answered 500. Send them again once this is fixed."
    assert first.stored == later, "when the last one failed"
    store.see_notices(OWNER, 2)
    given_up(store, clock, "it answered 500", "s")
    assert told(store) == [
        ("s", "it answered 500", 3, True), ("t", "it answered 500", 2, True), ("s", "it answered 404", 1, False),
        ("s", "it answered 500", 1, False),
    ]  # fmt: skip
    assert store.notices_of("bob") == []


def test_what_is_tried_again_or_was_sent_is_no_news(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    find(store, "s", many=2)
    (_, first), (_, second) = create(store, clock)
    settle(store, clock, done(first, ok=False, problem="no", due=Instant(START + 10**6)), done(second))
    assert told(store) == []


def test_a_replayed_delivery_that_fails_again_is_counted_again(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    given_up(store, clock, "no", "s")
    assert store.replay("s", OWNER, None, failed=True, sequences=None) == 1
    settle(store, clock, *(done(number, ok=False, problem="no") for _, number in create(store, clock)))
    assert told(store) == [("s", "no", 2, False)]


def test_a_channel_that_is_disabled_for_them_has_both_notices(store: Store, clock: Clock) -> None:
    with_channels(store, "s")
    given_up(store, clock, "no", "s", many=20)
    assert told(store) == [("s", "no", 20, False), ("s", "", 1, False)]
    assert "20 deliveries in a row failed permanently" in store.notices_of(OWNER)[1].text
