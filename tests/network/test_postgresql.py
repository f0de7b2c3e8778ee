"""Linked servers whose journals are in PostgreSQL."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.network.nodes import CHANGES, Wires, end, ids, linked, publish, subscribe, until, wired
from tests.network.test_moves import leaves, moved, notified, ticket
from tests.network.test_nodes import LINE, Trial
from tests.services.postgresql import postgresql
from tidings.overlay import messages as m
from tidings.overlay.values import Distribute, Rule
from tidings.schema import json_form
from tidings.store import Accepted, Grow, Publish, Refused, Store, Subscribe

pytestmark = pytest.mark.slow


class PostgreSqlTrial(Trial):
    def __init__(self, folder: Path, wires: Wires, urls: dict[str, str]) -> None:
        self.wires = wires
        self.stores = {name: Store.open(url) for name, url in urls.items()}
        for store in self.stores.values():
            store.append([Grow(json_form.read_change(one)) for one in CHANGES])


def test_events_repair_a_move_and_advertisements(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        old, new = one.stores["athens"], one.stores["berlin"]
        old.append([Subscribe("wish", "price < 100", "ann")])
        await until(lambda: one.alive(LINE[0]))
        publish(new, "1")
        await until(lambda: ids(old) == ["1"])
        await end(one.wires, "athens")
        publish(new, "2", "3")
        one.start("athens")
        await until(lambda: ids(old) == ["1", "2", "3"])

        publish(old, "4")
        ticket(new)
        leaves(one)
        await until(lambda: one.alive(LINE[0]) and moved(one), 40)
        assert sorted(notified(new)) == ["1", "2", "3", "4"]  # nothing matched at the old one, so all was pending
        subscribe(old, "other", "price < 100")

        berlin = one.wires.nodes["berlin"]
        one.wires.nodes["athens"].command(m.TakeHome())
        await until(lambda: berlin.server.durable.rule == Rule(1, "athens"))
        order = Distribute("advertisements")
        assert isinstance(await berlin.ask(lambda name: m.Request(name, order), 20), m.Granted)
        await until(lambda: berlin.stored_orders == berlin.server.schema)
        raw = {"id": "5", "source": "s", "event_type": "offer", "attributes": {"price": 7}}
        assert [type(each) for each in new.append([Publish(raw)])] == [Refused]
        new.advertise("ben", "price < 50")
        berlin.read_advertisements()
        assert [type(each) for each in new.append([Publish(raw)])] == [Accepted]
        await until(lambda: "5" in ids(old))
        assert json.loads(old.events_at([old.position_of("s", "5") or 0]).popitem()[1])["id"] == "5"

    async def told(urls: dict[str, str]) -> None:
        with wired(monkeypatch) as wires:
            made = PostgreSqlTrial(tmp_path, wires, urls)
            try:
                await asyncio.wait_for(story(made), 180)
            finally:
                await made.close()

    with postgresql() as server:
        asyncio.run(told({name: server.store() for name in ("athens", "berlin")}))
