"""A neighbour that sends what cannot be: it is dropped, and the network goes on."""

import asyncio
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.network.nodes import ids, linked, publish, subscribe, until
from tests.network.test_nodes import LINE, NAMES, Trial, trial
from tidings.network import node as nodes
from tidings.network.cargo import Cargo, packed, unpacked
from tidings.network.contents import Page
from tidings.network.wire import WrongMessage, encode
from tidings.overlay import messages as m
from tidings.overlay import repair
from tidings.overlay.values import Event, Growth, Stamp, Version

DEEP = "[" * 100_000


def growth(**attribute: str) -> Growth:
    return Growth(msgspec.json.encode({"change": "create_attribute", "attribute": attribute}).decode())


LIES = (
    growth(name="price", domain="money"),  # there already
    growth(name="weight", domain="nothing"),
    Growth('{"change": "set_statistics", "attribute": "price", "texts": 1, "frequencies": {}}'),
    Growth(DEEP),
    Growth("{"),
)


def test_growth_that_cannot_follow_is_not_ordered(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, *LINE)
        one.start(*NAMES)
        one.wires.nodes["athens"].command(m.TakeHome())
        await until(lambda: one.alive(*LINE) and "athens" in one.wires.nodes["cairo"].server.hops)
        berlin = one.wires.nodes["berlin"]
        known = berlin.server.schema
        for place, lie in enumerate(LIES, 1):
            berlin.hear("cairo", encode([m.Orders(known, berlin.server.digests[-1], (("evil", lie),))]))
            assert (berlin.server.schema, berlin.counts["refused"]) == (known, place)
        good = growth(name="weight", domain="money")
        await until(lambda: berlin.server.durable.rule.home == "athens")
        assert isinstance(await berlin.ask(lambda name: m.Request(name, good), 20), m.Granted)
        await until(lambda: {store.catalog().version for store in one.stores.values()} == {5})

    trial(tmp_path, monkeypatch, story)


def test_no_growth_is_ordered_that_no_message_holds(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        one.start("athens")
        why_not = one.wires.nodes["athens"].server.refuses
        assert "4 MiB" in why_not(growth(name="x" * (5 << 20), domain="money"))
        assert why_not(Growth(DEEP))
        assert not why_not(growth(name="weight", domain="money"))

    trial(tmp_path, monkeypatch, story)


def test_events_that_are_nested_without_end_are_dropped(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        subscribe(one.stores["athens"])
        await until(lambda: one.alive(LINE[0]))
        athens, berlin = one.wires.nodes["athens"], one.wires.nodes["berlin"]
        stamp = Stamp(berlin.server.incarnation, 50)
        athens.server.asked["berlin"] = stamp
        for content in Page([DEEP, '{"id": "x", "source": "s", "event_type": "offer", "z": ' + DEEP]).contents:
            event = Event("s", "x", content, "berlin", stamp)
            answer = m.Answer("berlin", athens.server.life, (event,), Stamp(stamp.incarnation, 0), None)
            athens.hear("berlin", encode([m.Routed("athens", 9, answer)]))
            athens.hear("berlin", encode([m.Events(Version(1, 1), (event,))]))
        publish(one.stores["berlin"], "1")
        await until(lambda: ids(one.stores["athens"]) == ["1"])
        assert athens.failed is None

    trial(tmp_path, monkeypatch, story)


def test_events_that_are_not_valid_here_are_buried_and_not_stored(tmp_path: Path, monkeypatch: Any) -> None:
    """They come as an answer, since no interest matches an event of an unknown type."""

    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        subscribe(one.stores["athens"])
        await until(lambda: one.alive(LINE[0]))
        athens, berlin = one.wires.nodes["athens"], one.wires.nodes["berlin"]
        incarnation = berlin.server.incarnation
        athens.server.asked["berlin"] = Stamp(incarnation, 50)
        for number, lie in enumerate(({"event_type": "ghost"}, {"event_type": "offer", "attributes": {"price": "x"}})):
            body = msgspec.json.encode({"id": f"{number}", "source": "s", "attributes": {"price": 5}} | lie).decode()
            event = Event("s", f"{number}", Page([body]).contents[0], "berlin", Stamp(incarnation, 50 + number))
            answer = m.Answer("berlin", athens.server.life, (event,), Stamp(incarnation, 0), None)
            athens.hear("berlin", encode([m.Events(Version(1, number), (event,))]))
            athens.hear("berlin", encode([m.Routed("athens", 9, answer)]))
        publish(one.stores["berlin"], "valid")
        await until(lambda: ids(one.stores["athens"]) == ["valid"])
        letters = [stored.letter for stored in one.stores["athens"].dead_letters()]
        assert {(letter.origin, letter.id) for letter in letters} == {("network:berlin", "0"), ("network:berlin", "1")}
        assert athens.counts["refused"] == len(letters)

    trial(tmp_path, monkeypatch, story)


def test_a_message_that_fails_is_dropped_and_counted(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        subscribe(one.stores["athens"])
        await until(lambda: one.alive(LINE[0]))
        athens = one.wires.nodes["athens"]

        def fails(*_: Any) -> None:
            raise KeyError("nobody thought of this")

        with monkeypatch.context() as broken:
            broken.setattr(repair, "on_ask", fails)
            ask = m.Ask("berlin", Version(1, 1), (), Stamp(0, 0), Stamp(1, 1), frozenset())
            assert athens.hear("berlin", encode([m.Routed("athens", 9, ask), m.Probed("x")])) == 2
        assert athens.counts["failed"] == 1
        publish(one.stores["berlin"], "1")
        await until(lambda: ids(one.stores["athens"]) == ["1"])
        assert athens.failed is None

    trial(tmp_path, monkeypatch, story)


def test_a_request_gets_a_bounded_time(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(nodes, "_MOST_SECONDS", 0.05)

    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        athens = one.wires.nodes["athens"]
        asked = 0

        def slow(*_: Any) -> None:
            nonlocal asked
            asked += 1
            time.sleep(0.02)

        monkeypatch.setattr(repair, "on_ask", slow)
        ask = m.Ask("berlin", Version(1, 1), (), Stamp(0, 0), Stamp(1, 1), frozenset())
        athens.hear("berlin", encode([m.Routed("athens", 9, ask)] * 100))
        assert 1 <= asked <= 4
        assert athens.counts["dropped"] == 100 - asked
        beat = m.HeartbeatAnswer(Version(athens.server.incarnation, 1), athens.now(), 0)
        before, answered = asked, athens.server.links["berlin"].answered
        athens.hear("berlin", encode([m.Routed("athens", 9, ask), beat]))
        assert asked == before  # as long as that took, only heartbeats count
        assert athens.server.links["berlin"].answered > answered

        def heard_again() -> bool:
            athens.hear("berlin", encode([m.Routed("athens", 9, ask)]))
            return asked > before

        await until(heard_again)

    trial(tmp_path, monkeypatch, story)


def test_few_searches_run_at_once(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        await until(lambda: one.alive(LINE[0]))
        one.wires.mute(m.Searched)
        athens, asked = one.wires.nodes["athens"], []
        command = athens.command
        monkeypatch.setattr(athens, "command", lambda one: (asked.append(type(one)), command(one)))
        searches = asyncio.gather(*(athens.search("price < 5", 10, 0.5) for _ in range(10)))
        await asyncio.sleep(0.2)
        assert asked.count(m.Query) == 2
        await searches
        found, missing = await athens.search("price < 5", 10, 0.1)
        assert [each.server for each in found] == ["athens"]
        assert missing == ["berlin"]

    trial(tmp_path, monkeypatch, story)


@pytest.mark.parametrize(
    "cargo", [Cargo("t", "price < 5", False, False, 0, note="a\0b"), Cargo("t\0", "x", False, False, 0)]
)
def test_cargo_with_zero_characters_is_refused(cargo: Cargo) -> None:
    with pytest.raises(WrongMessage):
        unpacked(packed(cargo))


def test_a_subscription_whose_expiry_is_no_time_does_not_move_in(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        await until(lambda: one.alive(LINE[0]))
        athens = one.wires.nodes["athens"]
        cargo = packed(Cargo("t", "price < 5", False, False, 0, expiry="tomorrow"))
        offer = m.MoveIn("berlin", Version(1, 1), "wish", "price < 5", (), cargo)
        luggage = m.Luggage("berlin", "wish", 0, 1, b"no cargo")
        athens.hear("berlin", encode([m.Routed("athens", 9, offer), m.Routed("athens", 9, luggage)]))
        assert athens.counts["refused"] == 1
        await until(lambda: athens.counts["refused"] == 2)
        assert athens.failed is None

    trial(tmp_path, monkeypatch, story)
