"""What pages look at: both ends of the events, what was found last, by what, and how many of late."""

import pytest

from tests.store.batches import commit_batch
from tests.store.samples import Clock, publish, with_schema
from tests.store.test_notifications import table
from tests.store.test_owners import ALL, filled  # noqa: F401  # a fixture
from tidings.store import Pause, Store, Subscribe, Withdraw
from tidings.store.pages import recent
from tidings.store.pages.event_ends import MOST, EventEnds
from tidings.store.pages.owned import Called


def ids(ends: EventEnds, limit: int) -> list[str]:
    return [str(seen.event["id"]) for seen in ends.newest(limit) if seen.event is not None]


def test_the_newest_are_those_that_came_since_and_those_known(store: Store) -> None:
    ends = EventEnds(with_schema(store))
    assert ends.newest(10) == []
    store.append([publish(f"e{number}") for number in range(30)])
    assert ids(ends, 3) == ["e29", "e28", "e27"]
    assert len(ends.newest(1_000)) == 30
    store.append([Subscribe("s", "price < 3"), Pause("s"), Withdraw("s"), publish("last")])
    assert ids(ends, 2) == ["last", "e29"]
    known = ends.newest(5)
    assert [one is other for one, other in zip(known, ends.newest(5), strict=True)] == [True] * 5, "read once"


def test_the_newest_fit_into_some_megabytes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with_schema(store).append([publish(f"e{number}") for number in range(MOST + 50)])
    ends = EventEnds(store)
    assert len(ends.newest(1_000)) == MOST
    size = ends.newest(1)[0].size
    assert size > 40
    monkeypatch.setattr("tidings.store.pages.event_ends._MOST_SIZE", size * 20)
    assert 15 <= len(EventEnds(store).newest(1_000)) <= 21
    monkeypatch.setattr("tidings.store.pages.event_ends._MOST_SIZE", 1)
    assert len(EventEnds(store).newest(1_000)) == 8, "as many as a page shows, however large"


def test_what_was_removed_is_shown_no_more(store: Store, clock: Clock) -> None:
    ends = EventEnds(with_schema(store))
    assert ends.oldest() is None
    store.append([publish("e1"), publish("e2")])
    first = clock.time
    later = clock.tick(60)
    store.append([Subscribe("s", "price < 3"), publish("e3")])
    assert ids(ends, 10) == ["e3", "e2", "e1"]
    assert ends.oldest() == first
    commit_batch(store, 1, store.tail(), table())
    assert store.trim(before=later) == 2
    assert ids(ends, 10) == ["e3"]
    assert ends.oldest() == later


def test_only_what_is_new_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long row of subscription changes is walked over once."""
    with_schema(store).append([publish("e1"), *(Subscribe(f"s{number}", "price < 3") for number in range(100))])
    ends = EventEnds(store)
    assert ids(ends, 8) == ["e1"]
    monkeypatch.setattr("tidings.store.pages.event_ends._read", lambda *_: pytest.fail("nothing is new"))
    assert ids(ends, 8) == ["e1"]


def test_found_events_and_their_filters_are_the_owners(filled: Store) -> None:  # noqa: F811
    commit_batch(filled, 1, 19, ALL)
    found = recent.found_events(filled, "ann", 5)
    assert [(one.seen.position, one.found_by, one.complete) for one in found] == [
        (19, (Called("a", "price < 4"),), True),
        (16, (Called("b", "price < 4"), Called("a", "price < 4")), True),
        (13, (Called("a", "price < 4"),), True),
        (9, (Called("a", "price < 4"),), True),
    ], "withdrawn ones as they last stood"
    assert recent.matched_at(filled, "ann", 16, 10) == [Called("a", "price < 4"), Called("b", "price < 4")]
    assert recent.matched_at(filled, "ann", 16, 1) == [Called("a", "price < 4")]
    assert recent.matched_at(filled, "bob", 13, 10) == [Called("b", "price < 3")]
    assert recent.matched_at(filled, "bob", 16, 10) == []


def test_what_found_an_event_beside_many_others_may_be_incomplete(store: Store) -> None:
    names = [f"s{number:03}" for number in range(30)]
    with_schema(store).append([*(Subscribe(name, "price < 30", "ann") for name in names), publish("e")])
    commit_batch(store, 1, store.tail(), table((store.tail(), names)))
    (found,) = recent.found_events(store, "ann", 1)
    assert len(found.found_by) == 20
    assert not found.complete


def test_sparks_count_each_owners_matches_apart(filled: Store, clock: Clock) -> None:  # noqa: F811
    commit_batch(filled, 1, 19, ALL)
    now = clock.tick(1)
    assert sum(recent.sparks(filled, "ann", ["a"], now)["a"]) == 4
    assert sum(recent.sparks(filled, "ann", ["b"], now)["b"]) == 1, "not bob's, who had the name before"
    assert sum(recent.sparks(filled, "bob", ["b"], now)["b"]) == 2


def test_a_busy_subscription_is_counted_part_by_part(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent, "MOST_IN_BIN", 20)
    with_schema(store).append([Subscribe("a", "price < 30", "ann")])
    for count in (7, 50, 3):
        first = store.tail() + 1
        store.append([publish(f"{count}-{number}") for number in range(count)])
        commit_batch(
            store, store.committed() + 1, store.tail(), table(*((at, ["a"]) for at in range(first, first + count)))
        )
        clock.tick(600)
    counts = recent.sparks(store, "ann", ["a"], clock.time)["a"]
    assert len(counts) == recent.BINS
    assert [count for count in counts if count] == [7, 20, 3], "a part is counted so far and no further"
