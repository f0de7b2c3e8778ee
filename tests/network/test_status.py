"""What a server says of its links."""

from pathlib import Path
from typing import Any

from tests.network.nodes import linked, publish, subscribe, until
from tests.network.test_nodes import LINE, Trial, trial
from tidings.network.rates import Rates
from tidings.network.status import described
from tidings.overlay import messages as m
from tidings.overlay.values import LinkState, Version


def test_a_link_that_only_one_end_holds_is_not_mutual(tmp_path: Path, monkeypatch: Any) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        await until(lambda: one.alive(LINE[0]))
        athens = one.wires.nodes["athens"]
        athens.server.states["aachen"] = LinkState("other", Version(1, 1), (("athens", 1.0), ("berlin", 1.0)))
        assert [link["servers"] for link in described(athens)["mutual"]] == [["athens", "berlin"]]

    trial(tmp_path, monkeypatch, story)


def test_a_link_is_behind_since_its_oldest_event_waits_however_often_that_was_sent(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async def story(one: Trial) -> None:
        linked(one.stores, LINE[0])
        one.start("athens", "berlin")
        subscribe(one.stores["athens"])
        await until(lambda: one.alive(LINE[0]))
        berlin = one.wires.nodes["berlin"]
        assert isinstance(await one.wires.nodes["athens"].ask(m.Settle, 20), m.Settled)
        wire = berlin.postmen["athens"]
        send = wire.send
        monkeypatch.setattr(wire, "send", lambda message: None if isinstance(message, m.Events) else send(message))

        def link() -> dict[str, Any]:
            return dict(described(berlin)["links"][0])

        publish(one.stores["berlin"], "1")
        await until(lambda: link()["waiting"] == 1)
        publish(one.stores["berlin"], "2")
        await until(lambda: link()["behind_seconds"] > 1.2)  # it is sent again each half second
        assert link()["waiting"] == 2
        monkeypatch.setattr(wire, "send", send)
        await until(lambda: link()["waiting"] == 0)
        assert link()["behind_seconds"] == 0.0
        assert link()["sent_per_second"] > 5  # twenty heartbeats a second, and the answers to as many
        assert link()["received_per_second"] > 5

    trial(tmp_path, monkeypatch, story)


def test_rates_are_of_the_last_ten_seconds() -> None:
    rates = Rates()
    assert rates.per_second("to", "berlin") == 0.0
    for second in range(30):
        rates.look(float(second))
        rates.look(second + 0.1)  # too soon
        rates.count("to", "berlin", 100 if second < 10 else 5)
    assert rates.per_second("to", "berlin") == 5.0
    assert rates.per_second("from", "berlin") == 0.0
