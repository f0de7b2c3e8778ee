"""Partial matches that expire become notifications, wherever batches are cut, once."""

from pathlib import Path

import pytest

from tests.pipeline.composite_batches import run_all
from tests.pipeline.composite_world import START, World, event, times
from tidings.store import Edit, Pause, Subscribe

PATTERN = "[l contains 0] before [l contains 1] before [l contains 2] within 10 s by k report expired"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def expired(world: World) -> dict[tuple[str, ...], str]:
    """Of all that expired: the ids of the events, and what they waited for."""
    known = world.store.detections(one.detection for one in world.store.notifications(limit=1000))
    return {tuple(event.id for event in one.events): one.expired for one in known.values() if one.expired}


@pytest.mark.parametrize("cut", [True, False])
def test_silence_alone_tells_of_it(world: World, cut: bool) -> None:
    ends = [
        world.put(Subscribe("c", composite=PATTERN)),
        world.publish(event(1, 0, k=1)),
        world.publish(event(2, 0, k=2)),
        world.publish(event(3, 1, k=2)),
        world.publish(event(4, 0, k=3)),
        world.publish(event(5, 1, k=3)),
        world.publish(event(6, 2, k=3)),
        world.tick(START + 10_900_000),
    ]
    run_all(world.store, 0, ends if cut else [])
    assert times(world) == [("c", ["e4", "e5", "e6"], 6.0)]
    world.clock.time = world.clock.time.__class__(START + 12_500_000)
    assert world.store.waits_for_time(0), "so the journal gets a tick"
    world.tick(START + 12_500_000)
    assert run_all(world.store, 0) == 2
    assert expired(world) == {("e1",): "[l contains 1]", ("e2", "e3"): "[l contains 2]"}
    assert [time for _, _, time in times(world)] == [11.0, 12.0, 6.0]
    assert run_all(world.store, 0) == 0


def test_lost_states_tell_of_nothing_twice(world: World) -> None:
    world.put(Subscribe("c", composite=PATTERN))
    world.publish(event(1, 0, k=1))
    world.tick(START + 20_000_000)
    assert run_all(world.store, 0) == 1
    world.store.restart_composites()
    world.publish(event(21, 0, k=1))
    world.tick(START + 40_000_000)
    assert run_all(world.store, 0) == 1
    assert sorted(expired(world)) == [("e1",), ("e21",)]


@pytest.mark.parametrize("ending", [Pause("c"), Edit("c", composite=PATTERN.replace("10 s", "9 s"))])
def test_what_has_not_expired_where_the_composite_ends_never_does(world: World, ending: Pause | Edit) -> None:
    world.put(Subscribe("c", composite=PATTERN))
    world.publish(event(1, 0, k=1))
    world.tick(START + 8_000_000)
    world.put(ending)
    world.tick(START + 30_000_000)
    assert run_all(world.store, 0) == 0


def test_the_same_events_complete_and_expired_are_two_notifications(world: World) -> None:
    """A pair is found at the end of the frame in which it waits for a third."""
    pair = "[l contains 0] before [l contains 1] within 10 s"
    world.put(Subscribe("c", composite=f"({pair}) or (({pair}) before [l contains 2] within 10 s) report expired"))
    world.publish(event(1, 0))
    world.publish(event(11, 1))
    world.tick(START + 30_000_000)
    assert run_all(world.store, 0) == 2
    assert times(world) == [("c", ["e1", "e11"], 11.0), ("c", ["e1", "e11"], 11.0)]
    assert expired(world) == {("e1", "e11"): "[l contains 2]"}
