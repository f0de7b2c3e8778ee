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
    PublishPast,
    PublishValid,
    Store,
    StoredLink,
    StoredOrder,
    export_journal,
    import_journal,
    rebuild,
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
    assert numbers[-1] > 2**50
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


def test_an_event_that_moved_in_is_kept_and_matched_by_nobody(store: Store, tmp_path: Path) -> None:
    past = validate(raw("past"), store.catalog())
    tail = store.tail()
    (kept,) = store.append([PublishPast(past)])
    assert isinstance(kept, Accepted)
    assert store.event_page(0, kept.position).positions == []  # what queries read
    assert store.next_change(tail) is None  # no plan waits for it
    assert "past" in store.events_at([kept.position])[kept.position]
    assert [type(one) for one in store.append([Publish(raw("past")), PublishPast(past)])] == [Duplicate, Duplicate]
    assert store.figures().events == 1
    file = tmp_path / "journal.jsonl"
    export_journal(store, file)
    with Store.open(tmp_path / "other.db") as other:
        import_journal(file, other)
        assert other.events_at([kept.position]) == store.events_at([kept.position])
        assert [type(one) for one in other.append([Publish(raw("past"))])] == [Duplicate]
        assert other.figures().events == 1
    before = store.events_at([kept.position])
    rebuild(store)
    assert store.events_at([kept.position]) == before
    assert [type(one) for one in store.append([Publish(raw("past"))])] == [Duplicate]


def test_a_clock_that_was_set_back_does_not_repeat_an_incarnation_after_a_restore(tmp_path: Path) -> None:
    path, copy = tmp_path / "one.db", tmp_path / "copy.db"
    with Store.open(path) as one:
        nodes.begin(one.database, "athens", 5_000)
    copy.write_bytes(path.read_bytes())
    begun = set()
    for file in (path, copy):
        with Store.open(file) as one:
            nodes.begin(one.database, "athens", 1_000)  # an hour ago, so to say
            node = one.node()
            assert node is not None
            begun.add(node.incarnations[-1][0])
            assert node.incarnations[-1][0] > 5_000
    assert len(begun) == 2


def test_the_last_gaps_are_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "MOST_GAPS", 3)
    for place in range(5):
        store.store_heard([Heard(gap=Gap("berlin", place, place + 1))])
    node = store.node()
    assert node is not None
    assert [gap.after for gap in node.gaps] == [2, 3, 4]


def test_a_server_that_is_struck_off_keeps_no_mark(store: Store) -> None:
    store.store_heard([Heard(marks=(("berlin", (5, 1)), ("cairo", (5, 1))))])
    store.store_heard([Heard(orders=(StoredOrder("r", "strike off", "berlin"),))])
    node = store.node()
    assert node is not None
    assert set(node.marks) == {"cairo"}
