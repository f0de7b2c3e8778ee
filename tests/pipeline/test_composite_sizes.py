"""How large a batch of the composites may be follows from what events take, not from what a worker takes to start."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from tests.pipeline.composite_batches import Held
from tests.pipeline.composite_world import A_THEN_B, START, World, event
from tidings.pipeline.composites.known import KnownComposites
from tidings.pipeline.composites.leaf_stage import StretchMatches
from tidings.pipeline.composites.shard_done import ShardDone
from tidings.pipeline.composites.shard_stage import ShardStage
from tidings.pipeline.composites.sink import CompositeRound, CompositeSink
from tidings.pipeline.stream.attempts import BatchSize
from tidings.pipeline.stream.match_parts import Limits, MatchParts
from tidings.store import Subscribe

_SLOW = 0.2  # seconds


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.put(*(Subscribe(f"c{number}", composite=A_THEN_B) for number in range(5)))
    for number in range(6):
        world.publish(event(1 + number, number % 2))
    world.tick(START + 8_000_000)
    world.store.begin_composites()
    return world


def known(world: World) -> KnownComposites:
    found = KnownComposites(world.store)
    found.learn(world.store.tail())
    return found


def test_learning_is_not_slowness(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first, last = world.store.committed("composites") + 1, world.store.tail()
    rows = StretchMatches(world.store, known(world), 0, first, last).rows()
    learner = KnownComposites(world.store)

    def learn(upto: int) -> None:
        time.sleep(0 if learner.spans else _SLOW)
        KnownComposites.learn(learner, upto)

    monkeypatch.setattr(learner, "learn", learn)
    monkeypatch.setattr("tidings.pipeline.composites.shard_stage.known_composites", lambda url: learner)
    stage = ShardStage(world.store.url, 0, Held(), "b")
    answered = [row for batch in stage(iter([pa.RecordBatch.from_pylist(rows)])) for row in batch.to_pylist()]
    done = [msgspec.msgpack.decode(row["body"], type=ShardDone) for row in answered]
    assert CompositeRound(done).seconds < _SLOW


def test_the_first_match_of_a_worker_does_not_end_its_task(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = MatchParts.of

    def slow(*given: Any) -> Iterator[Any]:
        time.sleep(_SLOW)
        yield from parts(*given)

    monkeypatch.setattr(MatchParts, "of", slow)
    first, last = world.store.committed("composites") + 1, world.store.tail()
    worker, limits = known(world), Limits(rows=2, seconds=_SLOW)
    cold = StretchMatches(world.store, worker, 0, first, first + 6, limits)
    assert (cold.done, cold.seconds < _SLOW) == (first + 6, True)
    assert StretchMatches(world.store, worker, 0, first, last, limits).done < last


def test_what_was_learnt_is_not_searched_for_cycles(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.pipeline.composites.known._SOME", 5)
    monkeypatch.setattr(gc, "collect", lambda: 0)
    frozen: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    worker = known(world)
    assert not frozen
    worker.learn(world.store.tail() + 1)
    worker.learn(world.store.tail() + 2)
    assert frozen == [1]


def test_a_round_that_took_long_to_store_makes_the_next_batch_smaller(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    took: list[float] = []

    def rounds(frame: Any, stage: Any, run: Any, size: BatchSize, tasks: int) -> Iterator[None]:
        took.append(size.storing)
        yield None

    monkeypatch.setattr("tidings.pipeline.composites.sink.rounds", rounds)
    monkeypatch.setattr("tidings.pipeline.composites.sink.store_round", lambda *given: time.sleep(_SLOW))
    world.store.take_pipeline_lease("me", 60.0)
    sink = CompositeSink(world.store.url, 0, 2, "me", Held())
    frame: Any = None
    sink(frame, 0)
    sink(frame, 1)
    assert took[0] == 0.0
    assert took[1] >= _SLOW
