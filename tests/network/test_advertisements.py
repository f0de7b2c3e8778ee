"""A network that is distributed by advertisements: interests go only where something is advertised that may match."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.network.nodes import end, ids, linked, publish, subscribe, until
from tests.network.test_nodes import LINE, NAMES, Trial, trial
from tidings.events import RefusedEvent
from tidings.overlay import messages as m
from tidings.overlay.values import Distribute, Rule
from tidings.schema import Instant
from tidings.store import Accepted, Account, NoSuchAdvertisement, Publish, Refused, Store


def offered(store: Store, id: str, price: float) -> Any:
    raw = {"id": id, "source": "s", "event_type": "offer", "attributes": {"price": price}}
    (outcome,) = store.append([Publish(raw)])
    return outcome


async def by_advertisements(one: Trial) -> None:
    """Three servers in a line that all know the distribution."""
    linked(one.stores, *LINE)
    one.start(*NAMES)
    athens = one.wires.nodes["athens"]
    athens.command(m.TakeHome())
    await until(lambda: one.alive(*LINE))
    await until(lambda: one.wires.nodes["cairo"].server.durable.rule == Rule(1, "athens"))
    told = await athens.ask(lambda name: m.Request(name, Distribute("advertisements")), 20)
    assert isinstance(told, m.Granted)
    nodes = one.wires.nodes
    await until(lambda: all(nodes[name].server.distribution == "advertisements" for name in NAMES))
    await until(lambda: all(nodes[name].stored_orders == nodes[name].server.schema for name in NAMES))


def test_interests_go_towards_advertisements_that_overlap_and_events_outside_are_refused(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async def story(one: Trial) -> None:
        await by_advertisements(one)
        stores, nodes = one.stores, one.wires.nodes
        subscribe(stores["athens"], filter="price < 100")
        refused = offered(stores["cairo"], "early", 5)
        assert isinstance(refused, Refused)
        assert isinstance(refused.error, RefusedEvent)
        assert [rule.rule for rule in refused.error.errors] == ["advertised"]
        assert "tidings advertise" in str(refused.error)

        dear = stores["cairo"].advertise("ann", "price > 500")
        nodes["cairo"].read_advertisements()
        await until(lambda: nodes["athens"].server.held["berlin"].advertisements == ("price > 500",))
        assert isinstance(offered(stores["cairo"], "dear", 600), Accepted)
        assert isinstance(await nodes["athens"].ask(m.Settle, 20), m.Settled)
        assert nodes["berlin"].server.held["athens"].filters == ()  # nothing that may match is advertised there

        stores["cairo"].advertise("ann", "price < 50")
        nodes["cairo"].read_advertisements()
        assert isinstance(offered(stores["cairo"], "quick", 5), Accepted)  # before any interest came back
        await until(lambda: nodes["cairo"].server.held["berlin"].filters == ("price < 100",))
        assert isinstance(offered(stores["cairo"], "cheap", 6), Accepted)
        await until(lambda: sorted(ids(stores["athens"])) == ["cheap", "quick"])
        assert ids(stores["berlin"]) == []

        stores["cairo"].withdraw_advertisement(dear.id, "ann")
        nodes["cairo"].read_advertisements()
        await until(lambda: nodes["athens"].server.held["berlin"].advertisements == ("price < 50",))
        assert isinstance(offered(stores["cairo"], "dear again", 600), Refused)
        with pytest.raises(NoSuchAdvertisement):
            stores["cairo"].withdraw_advertisement(dear.id, "ann")

    trial(tmp_path, monkeypatch, story)


def test_advertisements_outlive_a_restart_and_events_of_others_need_none(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        await by_advertisements(one)
        stores = one.stores
        stores["cairo"].advertise("ann", "price < 50")
        await end(one.wires, "cairo")
        one.start("cairo")
        subscribe(stores["athens"], filter="price < 100")  # it has no advertisement itself, and takes what comes
        await until(lambda: one.alive(*LINE))
        publish(stores["cairo"], "1")
        await until(lambda: ids(stores["athens"]) == ["1"])
        await asyncio.sleep(0)

    trial(tmp_path, monkeypatch, story)


def test_advertisements_of_an_account_that_is_deleted_are_withdrawn_everywhere(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """By a command on the store, which does not tell the node."""

    async def story(one: Trial) -> None:
        await by_advertisements(one)
        cairo, nodes = one.stores["cairo"], one.wires.nodes
        cairo.add_account(Account("ann", "", frozenset({"publish"}), Instant(0)))
        cairo.advertise("ann", "price < 50")
        await until(lambda: nodes["athens"].server.held["berlin"].advertisements == ("price < 50",))
        assert isinstance(offered(cairo, "1", 5), Accepted)
        cairo.disable_account("ann")
        assert isinstance(offered(cairo, "2", 5), Refused)
        await until(lambda: nodes["athens"].server.held["berlin"].advertisements == ())
        cairo.enable_account("ann")
        await until(lambda: nodes["athens"].server.held["berlin"].advertisements == ("price < 50",))
        assert isinstance(offered(cairo, "3", 5), Accepted)
        cairo.delete_account("ann")
        assert isinstance(offered(cairo, "4", 5), Refused)
        await until(lambda: nodes["athens"].server.held["berlin"].advertisements == ())

    trial(tmp_path, monkeypatch, story)


def test_more_advertisements_than_there_is_room_for_count_as_everything(tmp_path: Path, monkeypatch: Any) -> None:
    from tidings.network.wire import encode
    from tidings.overlay.values import Interest, Version

    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        await until(lambda: one.alive(LINE[0]))
        athens, berlin = one.wires.nodes["athens"], one.wires.nodes["berlin"]
        many = tuple(f"price < {number}" for number in range(2_000))
        version = Version(berlin.server.incarnation, 10**9)
        athens.hear("berlin", encode([m.Posted(Interest(version, (), many, 0))]))
        assert athens.server.held["berlin"].advertisements == (athens.filters.everything,)

    trial(tmp_path, monkeypatch, story)
