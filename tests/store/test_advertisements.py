"""What accounts say they will publish, where it binds them."""

import threading
from typing import Any

import pytest

from tests.store.samples import with_schema
from tidings.language import Filter
from tidings.store import Accepted, Publish, Refused, Store, TooManyAdvertisements, tables
from tidings.store.network import advertisements

OFFER = {"source": "s", "event_type": "car", "attributes": {"price": 5}}


def bound(store: Store) -> None:
    """A server of a network that is distributed by advertisements."""
    with_schema(store)
    store.begin_incarnation("athens")
    with store.database.writing() as connection:
        connection.execute(tables.network_node.update().values(distribution="advertisements"))


def publish(store: Store, id: str) -> Any:
    (outcome,) = store.append([Publish({"id": id, **OFFER})])
    return outcome


def test_advertisements_are_parsed_while_others_may_write(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    bound(store)
    parse, free = Filter.parse, []
    writers: list[threading.Thread] = []

    def write(done: threading.Event) -> None:
        with store.database.writing():
            done.set()

    def slowly(text: str, catalog: Any) -> Filter:
        done = threading.Event()
        writers.append(threading.Thread(target=write, args=(done,)))
        writers[-1].start()
        free.append(done.wait(3))
        return parse(text, catalog)

    monkeypatch.setattr(Filter, "parse", slowly)
    assert isinstance(publish(store, "1"), Refused)
    store.advertise("ann", "price < 10")
    assert isinstance(publish(store, "2"), Accepted)
    store.advertise("ann", "price > 100")
    assert isinstance(publish(store, "3"), Accepted)
    assert free == [True, True]  # each was parsed once
    for writer in writers:
        writer.join()


def test_advertisements_that_change_all_the_time_hold_nobody_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    bound(store)
    store.advertise("ann", "price < 10")
    read = advertisements.Admitted.read

    def overtaken(self: advertisements.Admitted, connection: Any, catalog_of: Any) -> None:
        read(self, connection, catalog_of)
        number, *rest = self._known
        if len(tries) < 3:
            self._known = (number - 1, *rest)  # type: ignore[assignment]
        tries.append(number)

    tries: list[int] = []
    monkeypatch.setattr(advertisements.Admitted, "read", overtaken)
    assert isinstance(publish(store, "1"), Accepted)
    assert len(tries) == 4


def test_an_account_has_a_bounded_number_of_advertisements(store: Store) -> None:
    bound(store)
    made = [store.advertise("ann", "price < 10", 2) for _ in range(2)]
    with pytest.raises(TooManyAdvertisements, match="you have 2 advertisements"):
        store.advertise("ann", "price < 10", 2)
    store.advertise("bob", "price < 10", 2)
    store.withdraw_advertisement(made[0].id, "ann")
    store.advertise("ann", "price < 10", 2)
