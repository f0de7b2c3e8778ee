from dataclasses import replace

import pytest

from tidings.overlay.simulation.checks import lost, unsettled
from tidings.overlay.simulation.mending import Fault, time_to_repair
from tidings.overlay.simulation.network import Network
from tidings.overlay.simulation.traffic import Setting, flooding, traffic

SMALL = Setting(servers=20, subscriptions=40, events=40, selectivity=0.01)


def test_filters_pushed_towards_the_sources_save_messages() -> None:
    found = {name: traffic(SMALL, name) for name in ("events", "subscriptions", "advertisements")}  # type: ignore[arg-type]
    assert [one.missed for one in found.values()] == [0, 0, 0]
    assert flooding(SMALL).messages_per_event > found["events"].messages_per_event
    assert found["events"].messages_per_event == SMALL.servers - 1
    assert found["subscriptions"].messages_per_event < SMALL.servers / 2
    assert found["advertisements"].messages_per_event == found["subscriptions"].messages_per_event
    assert found["advertisements"].filters_per_server < found["subscriptions"].filters_per_server


def test_covering_saves_filters_and_no_event() -> None:
    wide = replace(SMALL, selectivity=0.1)
    with_it, without = (traffic(replace(wide, covering=covering), "subscriptions") for covering in (True, False))
    assert with_it.filters_per_server < without.filters_per_server / 1.2
    assert with_it.messages_per_event == without.messages_per_event
    assert without.most_filters == 40 - 40 // 20


def test_every_event_matches_everything() -> None:
    full = replace(SMALL, selectivity=1.0)
    found = traffic(full, "subscriptions")
    assert found.messages_per_event == SMALL.servers - 1
    assert found.filters_per_server < 3


@pytest.mark.parametrize(
    ("fault", "quickest", "slowest"),
    [("crash", 10, 60), ("partition", 10, 60), ("loss", 0, 60), ("growth", 0, 5)],
)
def test_repair_ends(fault: Fault, quickest: float, slowest: float) -> None:
    assert quickest < time_to_repair(SMALL, "subscriptions", fault) < slowest


def test_each_fault_does_harm_and_growth_is_ordered(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the network is when the fault ends."""
    found: dict[Fault, Network] = {}
    for fault in ("crash", "partition", "loss", "growth"):

        def heal_all(of: Network, fault: Fault = fault) -> None:  # type: ignore[assignment]
            found[fault] = of
            raise StopIteration

        monkeypatch.setattr(Network, "heal_all", heal_all)
        with pytest.raises(StopIteration):
            time_to_repair(SMALL, "subscriptions", fault)  # type: ignore[arg-type]
    assert sum(host.server is None for host in found["crash"].hosts.values()) == 1
    assert all(lost(found[fault]) for fault in ("crash", "partition"))
    assert unsettled(found["loss"])
    assert {len(host.disk.orders) for host in found["growth"].hosts.values()} == {11}


@pytest.mark.slow
def test_a_thousand_servers() -> None:
    large = Setting("transit-stub", 1000, 100_000, 20, 0.001)
    found = traffic(large, "subscriptions")
    assert found.missed == 0
    assert found.most_filters <= 1000 * 100
