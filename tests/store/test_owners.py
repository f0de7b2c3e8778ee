"""Whose subscriptions and notifications they are: each is found by its owner, and by nobody else."""

from typing import Any

import pytest

from tests.services.postgresql import Server
from tests.store.batches import commit_batch
from tests.store.samples import projections, publish, with_schema
from tests.store.test_notifications import table
from tidings.store import (
    Edit,
    NoSuchSubscription,
    Pause,
    Resume,
    Store,
    Subscribe,
    Withdraw,
    rebuild,
)


def of(store: Store, owner: str | None, **which: Any) -> list[tuple[int, str]]:
    return [(one.position, one.subscription) for one in store.notifications(owner=owner, **which)]


@pytest.fixture
def filled(store: Store) -> Store:
    """ann's a and nobody's n at 6 and 7; b is bob's, then ann's, then nobody's; events at 9, 13, 16, 19."""
    with_schema(store).append([Subscribe("a", "price < 3", "ann"), Subscribe("n", "price < 3")])
    store.append([Subscribe("b", "price < 3", "bob"), publish("e9"), Pause("a"), Edit("a", "price < 4"), Resume("a")])
    store.append([publish("e13"), Withdraw("b"), Subscribe("b", "price < 4", "ann"), publish("e16"), Withdraw("b")])
    store.append([Subscribe("b", "price < 5"), publish("e19"), Withdraw("a")])
    return store


ALL = table(*((position, ["a", "b", "n", "x"]) for position in (9, 13, 16, 19)))
ANNS = [(9, "a"), (13, "a"), (16, "a"), (16, "b"), (19, "a")]
BOBS = [(9, "b"), (13, "b")]


def test_spans_carry_their_owner_and_rebuilding_gives_the_same(filled: Store) -> None:
    owners = [(span.start, span.owner) for span in filled.spans()]
    assert owners == [(6, "ann"), (7, ""), (8, "bob"), (12, "ann"), (15, "ann"), (18, "")]
    assert [span.owner for span in filled.spans_opened(11, 18)] == ["ann", "ann", ""]
    before = projections(filled)
    rebuild(filled)
    assert projections(filled) == before


def test_a_notification_is_the_owners_of_the_span_that_holds_it(filled: Store) -> None:
    assert commit_batch(filled, 1, 19, ALL) == 16
    assert of(filled, "ann") == ANNS
    assert of(filled, "bob") == BOBS
    assert of(filled, "") == sorted({(p, s) for p in (9, 13, 16, 19) for s in "abnx"} - {*ANNS, *BOBS})
    assert len(of(filled, None)) == 16
    assert of(filled, "nobody") == []


def test_the_same_in_one_batch_and_in_many(filled: Store) -> None:
    for first in range(1, 20, 3):
        commit_batch(filled, first, min(first + 2, 19), ALL.filter(_between(first, first + 2)))
    assert (of(filled, "ann"), of(filled, "bob")) == (ANNS, BOBS)


def _between(first: int, last: int) -> Any:
    return [first <= position <= last for position in ALL.column("position").to_pylist()]


def test_outside_all_its_spans_it_is_nobodys(filled: Store) -> None:
    commit_batch(filled, 1, 20, table((5, ["a"]), (10, ["a"]), (14, ["b"]), (20, ["a"])))
    assert of(filled, "ann") == of(filled, "bob") == []
    assert len(of(filled, "")) == 4


def test_of_one_owners_one_subscription(filled: Store) -> None:
    commit_batch(filled, 1, 19, ALL)
    assert of(filled, "ann", subscription="a") == [pair for pair in ANNS if pair[1] == "a"]
    assert of(filled, "ann", subscription="b") == [(16, "b")]
    assert of(filled, "bob", subscription="b") == BOBS
    assert of(filled, "bob", subscription="a") == []
    assert of(filled, "", subscription="b") == [(19, "b")]
    assert of(filled, None, subscription="b") == [(9, "b"), (13, "b"), (16, "b"), (19, "b")]


def test_read_on_from_a_cursor(filled: Store) -> None:
    commit_batch(filled, 1, 19, ALL)
    first = filled.notifications(limit=2, owner="ann")
    assert [(one.position, one.subscription) for one in first] == ANNS[:2]
    assert of(filled, "ann", after=first[-1].cursor, limit=2) == ANNS[2:4]
    assert of(filled, "ann", after=99) == []
    assert of(filled, "ann", after=first[0].cursor, limit=1, subscription="a") == ANNS[1:2]


def test_many_owners_and_more_spans_than_one_look_up_takes(store: Store) -> None:
    ids = [f"s{number}" for number in range(2_500)]
    with_schema(store).append([Subscribe(id, "price < 3", f"o{n % 3}") for n, id in enumerate(ids)])
    store.append([publish("e")])
    at = store.tail()
    assert commit_batch(store, 1, at, table((at, ids))) == 2_500
    for owner in range(3):
        assert of(store, f"o{owner}", limit=5_000) == [(at, id) for id in sorted(ids[owner::3])]


def test_one_owners_subscriptions(filled: Store) -> None:
    filled.append([Subscribe("c", "price < 3", "ann"), Subscribe("d", "price < 3", "ann"), Pause("d")])
    assert filled.count_subscriptions("ann") == 2
    assert filled.count_subscriptions("bob") == 0
    assert filled.count_subscriptions("") == 2
    assert filled.subscription("c", "ann") == filled.subscription("c")
    for stranger in ("bob", ""):
        with pytest.raises(NoSuchSubscription, match="no subscription 'c'"):
            filled.subscription("c", stranger)


def test_events_by_their_positions(filled: Store) -> None:
    bodies = {entry.position: entry.body for entry in filled.entries() if entry.kind == "event"}
    assert filled.events_at([9, 13, 16, 19]) == bodies
    assert filled.events_at([19, 9, 9, 10, 0, 99, 2**40]) == {9: bodies[9], 19: bodies[19]}
    assert filled.events_at([]) == {}
    commit_batch(filled, 1, 15, table())
    filled.trim(most_bytes=0)
    assert filled.events_at([9, 13, 16]) == {16: bodies[16]}


def test_no_index_holds_what_nobody_owns(server: Server) -> None:
    with Store.open(server.database()) as store:
        with_schema(store).append([Subscribe(f"s{number}", "price < 3") for number in range(500)])
        store.append([publish("e")])
        commit_batch(store, 1, store.tail(), table((store.tail(), [f"s{number}" for number in range(500)])))
        with store.database.reading() as connection:
            for index in ("notifications_of_owner", "notifications_of_subscription", "spans_of_subscription"):
                size = connection.exec_driver_sql(f"SELECT pg_relation_size('{index}')").scalar_one()
                assert size == 8192  # its first page, and nothing in it
