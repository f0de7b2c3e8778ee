"""What a server of a network keeps: events of others and their marks, together or not at all."""

from pathlib import Path

import pytest

from tidings.events import validate
from tidings.schema import json_form
from tidings.store import (
    Accepted,
    Arrival,
    Duplicate,
    Grow,
    Heard,
    NamedOtherwise,
    Publish,
    PublishValid,
    Store,
    StoredLink,
    StoredOrder,
)
from tidings.store.network import nodes
from tidings.store.network.nodes import Gap

CHANGES = (
    {"change": "create_domain", "domain": {"name": "money", "kind": "numeric"}},
    {"change": "create_attribute", "attribute": {"name": "price", "domain": "money"}},
    {"change": "create_event_type", "event_type": {"name": "offer", "attributes": [{"name": "price"}]}},
)


def raw(id: str) -> dict[str, object]:
    return {"id": id, "source": "s", "event_type": "offer", "attributes": {"price": 5}}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.open(tmp_path / "tidings.db")
    made.append([Grow(json_form.read_change(one)) for one in CHANGES])
    made.begin_incarnation("athens")
    return made


def arrival(store: Store, id: str, place: tuple[int, int]) -> Arrival:
    return Arrival(PublishValid(validate(raw(id), store.catalog())), "berlin", place)


def test_events_of_others_are_journaled_once_with_their_origin(store: Store) -> None:
    store.append([Publish(raw("own"))])
    heard = Heard(tuple(arrival(store, id, (5, at)) for at, id in enumerate(("x", "own", "y", "x"))))
    outcomes = store.store_heard([heard])
    assert [type(one) for one in outcomes] == [Accepted, Duplicate, Accepted, Duplicate]
    assert [store.origin_of(position) for position in (4, 5, 6)] == [None, "berlin", "berlin"]
    assert [position for position, _, _ in store.own_events(0, 99)] == [4]
    assert store.taken_after("berlin", (5, 0), 9) == [(5, 2)]
    node = store.node()
    assert node is not None
    assert node.position == 4


def test_events_and_marks_are_one_transaction(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("between two writes")

    heard = Heard((arrival(store, "x", (5, 1)),), (("berlin", (5, 1)),), Gap("berlin", 0, 1))
    for victim in ("put_marks", "put_gap"):
        with monkeypatch.context() as broken:
            broken.setattr(nodes, victim, fails)
            with pytest.raises(RuntimeError):
                store.store_heard([heard])
        node = store.node()
        assert node is not None
        assert (store.tail(), node.marks, node.gaps) == (3, {}, ())
    store.store_heard([heard])
    node = store.node()
    assert node is not None
    assert (store.tail(), node.marks, len(node.gaps)) == (4, {"berlin": (5, 1)}, 1)


def test_orders_and_the_growth_in_them_are_one_transaction(store: Store) -> None:
    again = Grow(json_form.read_change(CHANGES[1]))
    with pytest.raises(Exception, match="price"):
        store.store_heard([Heard(orders=(StoredOrder("r", "growth", "{}"),), growth=(again,))])
    node = store.node()
    assert node is not None
    assert node.orders == ()
    more = {"change": "create_attribute", "attribute": {"name": "weight", "domain": "money"}}
    store.store_heard([Heard(orders=(StoredOrder("r", "growth", "{}"),), growth=(Grow(json_form.read_change(more)),))])
    assert "weight" in {one.name for one in store.catalog().attributes}


def test_incarnations_rise_and_the_name_stays(store: Store) -> None:
    first = store.node()
    assert first is not None
    identity = store.begin_incarnation("athens")
    store.store_heard([Heard(began=2**50)])
    store.begin_incarnation("athens")
    later = store.node()
    assert later is not None
    assert later.identity == first.identity == identity
    numbers = [number for number, _ in later.incarnations]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == 2**50 + 1
    with pytest.raises(NamedOtherwise, match="athens"):
        store.begin_incarnation("berlin")
    store.store_heard([Heard(renumbered=2**51, rule=(3, "berlin"))])
    renumbered = store.node()
    assert renumbered is not None
    assert (renumbered.incarnations[-1][0], renumbered.restored, renumbered.home) == (2**51, True, "berlin")


def test_links(store: Store) -> None:
    for url in ("http://one", "http://two"):
        store.put_link(StoredLink("berlin", "identity", url, "token", b"digest"))
    (link,) = store.links()
    assert (link.url, link.token) == ("http://two", "token")
    assert store.link_of(b"digest") == link
    assert store.link_of(b"other") is None
    assert store.remove_link("berlin")
    assert not store.remove_link("berlin")
