"""Nodes with stores of their own, in one process."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.network.nodes import Wires, end, ids, linked, make_store, publish, start, subscribe, until, wired
from tidings.network.contents import Page
from tidings.network.status import described
from tidings.network.wire import decode, encode
from tidings.overlay import messages as m
from tidings.overlay.values import Event, Interest, Rule, Stamp, StrikeOff, Version
from tidings.schema import json_form
from tidings.store import Grow, Publish, Store

NAMES = ("athens", "berlin", "cairo")


class Trial:
    def __init__(self, folder: Path, wires: Wires) -> None:
        self.wires = wires
        self.stores = {name: make_store(folder, name) for name in NAMES}

    def start(self, *names: str, **limits: int) -> None:
        for name in names:
            start(self.wires, self.stores, name, **limits)

    def alive(self, *pairs: tuple[str, str]) -> bool:
        nodes = self.wires.nodes
        return all(
            nodes[one].server.links[other].alive and other in nodes[one].server.hops
            for left, right in pairs
            for one, other in ((left, right), (right, left))
        )

    async def close(self) -> None:
        for name in list(self.wires.nodes):
            await end(self.wires, name)
        for store in self.stores.values():
            store.close()


def trial(folder: Path, monkeypatch: Any, story: Any) -> None:
    async def told() -> None:
        with wired(monkeypatch) as wires:
            made = Trial(folder, wires)
            try:
                await asyncio.wait_for(story(made), 60)
            finally:
                await made.close()

    asyncio.run(told())


LINE = (("athens", "berlin"), ("berlin", "cairo"))


def test_events_reach_subscribers_at_other_servers_and_nobody_else(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, *LINE)
        one.start(*NAMES)
        subscribe(one.stores["athens"])
        await until(lambda: one.alive(*LINE))
        assert isinstance(await one.wires.nodes["athens"].ask(m.Settle, 20), m.Settled)
        publish(one.stores["cairo"], "cheap")
        publish(one.stores["cairo"], "dear", price=500)
        await until(lambda: ids(one.stores["athens"]) == ["cheap"])
        assert ids(one.stores["berlin"]) == []
        assert one.stores["athens"].origin_of(one.stores["athens"].position_of("s", "cheap") or 0) == "cairo"
        athens = one.wires.nodes["athens"]
        await until(lambda: athens.server.durable.marks["cairo"] == athens.server.heads["cairo"])
        found, missing = await athens.search("price < 1000", 10, 20)
        assert {event.id: one.server for one in found for event in one.events} == {"cheap": "cairo", "dear": "cairo"}
        assert missing == []
        told = described(athens)
        assert [link["state"] for link in told["links"]] == ["alive"]
        assert {server["name"]: server["reached"] for server in told["servers"]} == dict.fromkeys(NAMES, True)

    trial(tmp_path, monkeypatch, story)


def test_what_was_published_while_a_server_was_down_comes_later_and_once(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        subscribe(one.stores["athens"])
        await until(lambda: one.alive(LINE[0]))
        publish(one.stores["berlin"], "1")
        await until(lambda: ids(one.stores["athens"]) == ["1"])
        await end(one.wires, "athens")
        publish(one.stores["berlin"], "2", "3")
        await asyncio.sleep(0.3)
        one.start("athens")
        await until(lambda: ids(one.stores["athens"]) == ["1", "2", "3"])
        await end(one.wires, "berlin")
        publish(one.stores["berlin"], "4")
        one.start("berlin")
        await until(lambda: ids(one.stores["athens"]) == ["1", "2", "3", "4"])

    trial(tmp_path, monkeypatch, story)


def test_a_restored_origin_is_heard_under_a_new_incarnation(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        subscribe(one.stores["athens"])
        await until(lambda: one.alive(LINE[0]))
        publish(one.stores["berlin"], "1")
        await until(lambda: ids(one.stores["athens"]) == ["1"])
        await end(one.wires, "berlin")
        one.stores["berlin"].close()
        copy = tmp_path / "copy.db"
        copy.write_bytes((tmp_path / "berlin.db").read_bytes())
        one.stores["berlin"] = Store.open(tmp_path / "berlin.db")
        publish(one.stores["berlin"], "lost")
        one.start("berlin")
        await until(lambda: ids(one.stores["athens"]) == ["1", "lost"])
        await end(one.wires, "berlin")
        one.stores["berlin"].close()
        for suffix in ("", "-wal", "-shm"):
            (tmp_path / f"berlin.db{suffix}").unlink(missing_ok=True)
        copy.rename(tmp_path / "berlin.db")
        one.stores["berlin"] = Store.open(tmp_path / "berlin.db")
        one.start("berlin")
        publish(one.stores["berlin"], "2")  # at the position that the lost one had
        await until(lambda: ids(one.stores["athens"]) == ["1", "lost", "2"])

    trial(tmp_path, monkeypatch, story)


def test_growth_is_ordered_by_the_home_and_reaches_all(tmp_path: Path, monkeypatch: Any) -> None:
    import msgspec

    from tidings.overlay.values import Growth

    growth = {"change": "create_attribute", "attribute": {"name": "weight", "domain": "money"}}

    async def story(one: Trial) -> None:
        linked(one.stores, *LINE)
        one.start(*NAMES)
        one.wires.nodes["athens"].command(m.TakeHome())
        await until(lambda: one.alive(*LINE))
        cairo = one.wires.nodes["cairo"]
        await until(lambda: cairo.server.durable.rule == Rule(1, "athens") and "athens" in cairo.server.hops)
        order = Growth(msgspec.json.encode(growth).decode())
        told = await cairo.ask(lambda name: m.Request(name, order), 20)
        assert isinstance(told, m.Granted)
        await until(lambda: {store.catalog().version for store in one.stores.values()} == {5})
        again = await cairo.ask(lambda name: m.Request(name, order), 20)
        assert isinstance(again, m.Refused)
        assert "weight" in again.reason
        subscribe(one.stores["cairo"], filter="weight < 5")
        await until(lambda: any("weight" in text for text in one.wires.nodes["athens"].server.held["berlin"].filters))

    trial(tmp_path, monkeypatch, story)


def test_a_neighbour_that_lies_is_refused_and_the_rest_goes_on(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        subscribe(one.stores["athens"])
        await until(lambda: one.alive(LINE[0]))
        athens, berlin = one.wires.nodes["athens"], one.wires.nodes["berlin"]
        version = Version(berlin.server.incarnation, 10**9)
        held = athens.server.held.get("berlin")
        athens.hear("berlin", encode([m.Posted(Interest(version, ("no such thing < 5",), (), 0))]))
        assert athens.server.held.get("berlin") == held
        lies = Page(
            ['{"id": "x", "source": "s", "event_type": "ghost", "attributes": {}}', '{"id": "y", "price": []}', "{"]
        ).contents
        stamp = Stamp(berlin.server.incarnation, 10**6)
        events = tuple(Event("s", "x", content, "berlin", stamp) for content in lies)
        athens.hear("berlin", encode([m.Events(version, events)]))
        many = Interest(version, tuple(f"price < {number}" for number in range(2_000)), (), 0)
        athens.hear("berlin", encode([m.Posted(many)]))
        assert athens.server.held["berlin"].filters == (athens.filters.everything,)
        athens.hear("berlin", encode([m.Orders(3, athens.server.digests[3], (("r", StrikeOff("nobody")),))]))
        publish(one.stores["berlin"], "1")
        await until(lambda: ids(one.stores["athens"]) == ["1"])

    trial(tmp_path, monkeypatch, story)


def test_servers_whose_schemas_differ_stay_apart(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        for name, attribute in (("athens", "left"), ("berlin", "right")):
            change = {"change": "create_attribute", "attribute": {"name": attribute, "domain": "money"}}
            one.stores[name].append([Grow(json_form.read_change(change))])
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        await until(lambda: one.wires.nodes["athens"].server.links["berlin"].conflict)
        assert described(one.wires.nodes["athens"])["links"][0]["state"] == "kept out: the schemas differ"

    trial(tmp_path, monkeypatch, story)


def test_statistics_stay_at_their_server(tmp_path: Path, monkeypatch: Any) -> None:
    """Whoever counted words before the servers met, or counts while they are linked, grows no schema but its own."""
    import msgspec

    from tidings.overlay.values import Growth

    changes = (
        {"change": "create_domain", "domain": {"name": "words", "kind": "text"}},
        {"change": "create_attribute", "attribute": {"name": "body", "domain": "words"}},
        {"change": "create_event_type", "event_type": {"name": "story", "attributes": [{"name": "body"}]}},
    )

    def counted(store: Store, texts: int) -> None:
        grow(store, {"change": "set_statistics", "attribute": "body", "texts": texts, "frequencies": {"car": 1}})

    def grow(store: Store, *some: dict[str, Any]) -> None:
        store.append([Grow(json_form.read_change(one)) for one in some])

    def tell(store: Store, id: str) -> None:
        store.append([Publish({"id": id, "source": "s", "event_type": "story", "attributes": {"body": "a car"}})])

    async def story(one: Trial) -> None:
        athens, berlin = one.stores["athens"], one.stores["berlin"]
        for store in (athens, berlin):
            grow(store, *changes)
        counted(berlin, 5)
        counted(berlin, 10)
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        one.wires.nodes["athens"].command(m.TakeHome())
        subscribe(athens, filter="body ~ 'red car' at least 0.4")
        await until(lambda: one.alive(LINE[0]))
        assert isinstance(await one.wires.nodes["athens"].ask(m.Settle, 20), m.Settled)
        assert one.wires.nodes["berlin"].server.held["athens"].filters == ("body exists",)
        counted(athens, 20)
        counted(berlin, 40)
        tell(berlin, "1")
        await until(lambda: ids(athens) == ["1"])
        order = Growth('{"change": "create_attribute", "attribute": {"name": "weight", "domain": "money"}}')
        told = await one.wires.nodes["berlin"].ask(lambda name: m.Request(name, order), 20)
        assert isinstance(told, m.Granted)
        await until(lambda: [store.catalog().version for store in (athens, berlin)] == [9, 11])
        refused = Growth(msgspec.json.encode({"change": "set_statistics", "attribute": "body", "texts": 1}).decode())
        told = await one.wires.nodes["berlin"].ask(lambda name: m.Request(name, refused), 20)
        assert isinstance(told, m.Refused)
        assert "each server's own" in told.reason
        await end(one.wires, "berlin")
        tell(berlin, "2")
        one.start("berlin")
        await until(lambda: ids(athens) == ["1", "2"])
        last = one.wires.nodes["athens"].server.digests[-1]
        assert one.wires.nodes["berlin"].server.digests[-1] == last
        found, _ = await one.wires.nodes["berlin"].search("body exists", 10, 20)
        assert {event.id: event.schema for each in found for event in each.events} == {"1": 6, "2": 7}

    trial(tmp_path, monkeypatch, story)


@pytest.mark.parametrize("data", [b"", b"\x00", b"{}", b"\x91\x92\xa3foo\x90", b"\x91\x92\xa6events\x90"])
def test_bytes_that_are_no_messages(data: bytes) -> None:
    with pytest.raises(Exception, match="unreadable message"):
        decode(data)


def test_clocks_that_are_hours_apart(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        one.wires.nodes["berlin"]._began += 5 * 3600
        subscribe(one.stores["athens"])
        await until(lambda: one.alive(LINE[0]))
        publish(one.stores["berlin"], "1")
        await until(lambda: ids(one.stores["athens"]) == ["1"])
        await end(one.wires, "berlin")
        publish(one.stores["berlin"], "2")
        one.start("berlin")
        one.wires.nodes["berlin"]._began -= 5 * 3600
        await until(lambda: ids(one.stores["athens"]) == ["1", "2"])

    trial(tmp_path, monkeypatch, story)


def test_an_event_that_is_accepted_while_the_node_starts_is_not_forgotten(tmp_path: Path, monkeypatch: Any) -> None:
    from tidings.network import node

    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        subscribe(one.stores["athens"])
        await until(lambda: "berlin" in one.wires.nodes["athens"].server.durable.marks)
        await end(one.wires, "berlin")
        load = node.load

        def slow_load(*arguments: Any) -> Any:
            loaded = load(*arguments)
            publish(one.stores["berlin"], "meanwhile")  # the gateway accepts already
            return loaded

        monkeypatch.setattr(node, "load", slow_load)
        one.start("berlin")
        monkeypatch.setattr(node, "load", load)
        await until(lambda: one.alive(LINE[0]))
        await until(lambda: ids(one.stores["athens"]) == ["meanwhile"])

    trial(tmp_path, monkeypatch, story)
