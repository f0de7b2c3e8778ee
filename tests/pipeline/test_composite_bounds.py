"""What bounds the composites' query below Spark: quotas, the size of a batch, and room for what waits."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.pipeline.composite_batches import answers, run_all
from tests.pipeline.composite_oracle import detections_of, stored_detections
from tests.pipeline.composite_world import A_THEN_B, START, SmallPace, World, event, times
from tidings.pipeline.composites.known import KnownComposites
from tidings.pipeline.stream.match_parts import Limits
from tidings.schema import Instant
from tidings.store import (
    SetQuota,
    Subscribe,
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


OWNED = {
    "pair": "[l contains 0] before [l contains 1] within 20 s",
    "last": "[l contains 0] before [l contains 1] within 20 s select all, last",
    "final": "[l contains 0] and [l contains 1] within 15 s select all, 2 evaluate final",
    "not": "[l contains 0] unless [l contains 1] within 5 s by k",
    "none": "absent([l contains 7]) within 9 s",
}


def accounted(folder: Path, cuts: int, seed: int, kills: bool = False) -> tuple[list[Any], int]:
    """What an account with a small quota is left with, in batches of so many positions, and how many were dropped. With
    `kills` the sink is killed again and again, and each time the batch is cut otherwise."""
    folder.mkdir()
    world, draw = World(folder), Random(seed)
    world.put(SetQuota(6, "ann"))
    world.put(*(Subscribe(id, composite=text, owner="ann") for id, text in OWNED.items()))
    for number in range(90):
        world.clock.time = Instant(world.clock.time + draw.randrange(4_000_000))
        late = world.clock.time - START - draw.randrange(3_000_000)
        world.publish(event(late / 1e6, draw.randrange(2), f"e{number}", k=draw.randrange(2)))
        if number == 50:
            world.put(SetQuota(9, "ann"))
    world.tick(world.clock.time + 40_000_000)
    last = world.store.tail()
    for transactions in range(1, 9) if kills else ():
        with suppress(KeyboardInterrupt):
            run_all(world.store, 3_000_000, [last - transactions], pace=SmallPace(transactions))
            pytest.fail("it was not killed")
    run_all(world.store, 3_000_000, range(1, last, cuts) if cuts else [])
    (account,) = world.store.most_dropped(5)
    found = world.found()
    world.store.restart_composites()
    assert run_all(world.store, 3_000_000, [40]) == 0  # the same are dropped again
    world.store.close()
    return found, account.dropped


@pytest.mark.parametrize("seed", [1, 2])
def test_what_a_quota_drops_follows_from_the_journal(tmp_path: Path, seed: int) -> None:
    whole, dropped = accounted(tmp_path / "0", 0, seed)
    assert dropped > 20
    assert len({name for name, *_ in whole}) == len(OWNED)
    for cuts in (1, 7):
        assert accounted(tmp_path / str(cuts), cuts, seed) == (whole, dropped)
    assert accounted(tmp_path / "killed", 7, seed, kills=True) == (whole, dropped)


def fanned_out(world: World, composites: int, events: int) -> None:
    """Each event completes all composites, with each event before it; all become known at once."""
    world.put(*(Subscribe(f"c{number}", composite=A_THEN_B) for number in range(composites)))
    drafts = [event(1 + number / 1_000, 0, f"e{number}")._replace(leaves=frozenset([0, 1])) for number in range(events)]
    for one in drafts:
        world.publish(one)
    world.tick(START + 3_000_000)


def test_whatever_composites_match_a_batch_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """20 composites x 16 events: the tasks stop early, keys are taken in groups, detections are staged in runs and
    stored in parts."""
    monkeypatch.setattr("tidings.pipeline.composites.shard_stage._GROUP", 2_000)
    monkeypatch.setattr("tidings.pipeline.composites.shard_done._FOUND_AT_ONCE", 100)
    monkeypatch.setattr("tidings.pipeline.composites.shard_done._A_CHUNK", 9)
    monkeypatch.setattr("tidings.composite.detector._AT_ONCE", 3)
    fanned_out(world, 20, 16)
    store, known = world.store, KnownComposites(world.store)
    store.begin_composites()
    first, last = store.committed("composites") + 1, store.tail()
    limits, rounds, most = Limits(staged=100), 0, 0
    while first <= last:
        done = answers(store, known, 0, first, last, stretches=2, limits=limits)
        assert not rounds or done.round.reached == last or done.round.reached - first < 10
        most = max(most, sum(len(one.runs) for one in done.round.done))
        done.stored_in(store, SmallPace(rows=150))
        first, rounds = done.round.reached + 1, rounds + 1
    assert rounds >= 3
    assert most > 16  # a shard has several
    assert len(world.found()) == len(set(map(str, world.found()))) == 20 * 16 * 15 // 2


def test_an_owner_is_told_once_that_there_is_no_room(world: World) -> None:
    world.put(Subscribe("c", composite=A_THEN_B, owner="ann"), Subscribe("mine", composite=A_THEN_B))
    cuts = [world.publish(event(second, 0)) for second in range(1, 7)]
    world.publish(event(7, 1))
    world.tick(START + 8_000_000)
    run_all(world.store, 0, cuts[3:], room=2)
    assert [ids for _, ids, _ in times(world)] == 2 * [["e5", "e7"], ["e6", "e7"]]
    (notice,) = world.store.notices_of("ann")
    assert notice.subscription == "c"
    assert "than this server keeps in one operator for a key" in notice.text
    assert world.store.figures().crowded == 8  # four of each


def test_an_event_with_many_values_takes_part_in_some_of_their_combinations(world: World) -> None:
    """40 x 40 values: a thousand keys, of which each event completes the same ones, and 600 that are left out."""
    world.put(Subscribe("c", composite=f"{A_THEN_B} by k, v", owner="ann"))
    for second, leaf in ((1, 0), (2, 1)):
        many = {name: tuple(map(float, range(40))) for name in "kv"}
        world.publish(event(second, leaf)._replace(values=many))
    world.tick(START + 3_000_000)
    run_all(world.store, 0)
    assert stored_detections(world.store) == detections_of(world.store, 0)
    assert len(world.found()) == 1_000
    assert world.store.figures().crowded == 2 * 600
    (notice,) = world.store.notices_of("ann")
    assert "more than 1,000 combinations" in notice.text


@pytest.mark.parametrize(
    ("composite", "kept"),
    [
        (A_THEN_B, [["e5", "e7"], ["e6", "e7"]]),
        ("[l contains 0] unless [l contains 1] within 10 s", [["e5"], ["e6"]]),
        ("times([l contains 0], 7) within 1 min", []),
    ],
)
def test_with_less_room_than_before_what_waits_shrinks(world: World, composite: str, kept: list[list[str]]) -> None:
    world.put(Subscribe("c", composite=composite))
    for second in range(1, 6):
        world.publish(event(second, 0))
    world.tick(START + 5_500_000)
    run_all(world.store, 0)
    world.publish(event(6, 0))
    if composite == A_THEN_B:
        world.publish(event(7, 1))
    world.tick(START + 20_000_000)
    run_all(world.store, 0, room=2)
    assert [ids for _, ids, _ in times(world)] == kept
    assert world.store.figures().crowded == 4
