from dataclasses import replace

import pytest

from tidings.overlay.simulation.traffic import Setting, flooding, time_to_repair, traffic

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


def test_repair_ends() -> None:
    assert 10 < time_to_repair(SMALL, "subscriptions") < 60


@pytest.mark.slow
def test_a_thousand_servers() -> None:
    large = Setting("transit-stub", 1000, 100_000, 20, 0.001)
    found = traffic(large, "subscriptions")
    assert found.missed == 0
    assert found.most_filters <= 1000 * 100
