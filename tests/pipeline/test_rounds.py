"""What the sink makes of the tasks' summaries: whether a round is whole, and how far it came."""

from typing import Any

import pyarrow as pa
import pytest

from tidings.pipeline.stream.attempts import BatchSize
from tidings.pipeline.stream.rounds import Round, TornBatch, cut
from tidings.pipeline.stream.stage import SUMMARY
from tidings.pipeline.stream.stretch import Stretch


def done(first: int, last: int, reached: int | None = None, events: int = 1, seconds: float = 0.1) -> dict[str, Any]:
    """A stretch that a task has matched, to its end or up to where it came."""
    upto = last if reached is None else reached
    found = {"first": first, "last": last, "done": upto, "events": events, "matches": 0, "seconds": seconds}
    return found | {"plan": 7, "shards": 2}


def a_round(*rows: dict[str, Any]) -> Round:
    return Round(pa.Table.from_pylist(list(rows), schema=SUMMARY))


def test_stretches_one_after_another() -> None:
    found = a_round(done(11, 20, events=7), done(1, 10, events=9))
    assert (found.first, found.last, found.reached, found.events, found.shortest) == (1, 20, 20, 16, None)
    assert (found.plan, found.shards) == (7, 2)


def test_a_stretch_that_is_missing() -> None:
    with pytest.raises(TornBatch, match="incomplete"):
        a_round(done(1, 10), done(12, 20))
    with pytest.raises(TornBatch):
        a_round()


def test_a_task_that_stopped_early_ends_the_round_there() -> None:
    found = a_round(done(1, 10, 4, events=3), done(11, 20, events=9))
    assert (found.reached, found.events, found.last, found.shortest) == (4, 3, 20, 4)
    found = a_round(done(1, 10, events=9), done(11, 20, 13, events=2))
    assert (found.reached, found.events, found.shortest) == (13, 11, 3)


def test_problems_beyond_what_was_reached_are_told_when_it_is_matched_again() -> None:
    told = [{"first": 1, "last": 10, "position": at, "problem": "no JSON"} for at in (3, 9)]
    assert a_round(*told, done(1, 10, 4)).problems() == [(3, "no JSON")]


def test_the_next_batch_is_as_large_as_this_one_was_quick() -> None:
    size = BatchSize(100, largest=2_000)
    size.adapt(a_round(done(1, 100, seconds=0.5)), 2)
    assert size.positions == 200
    size.adapt(a_round(done(1, 10, seconds=0.01)), 2)
    assert size.positions == 200, "a short one says nothing about longer ones"
    size.adapt(a_round(done(1, 100, seconds=0.01), done(101, 200, seconds=0.02)), 2)
    assert size.positions == 1_600
    size.storing = 4.0
    size.adapt(a_round(done(1, 1_600, seconds=1.0)), 2)
    assert size.positions == 800
    size.adapt(a_round(done(1, 400, 30), done(401, 800)), 2)
    assert size.positions == 60
    size.fail(40)
    assert size.positions == 20
    size = BatchSize(1_000, largest=2_000, smallest=200)
    size.adapt(a_round(done(1, 1_000, seconds=60.0)), 2)
    assert size.positions == 200
    size.adapt(a_round(done(1, 1_000, 1), done(1_001, 2_000)), 2)
    assert size.positions == 200, "the rest is left to other rounds"


def test_positions_are_cut_into_stretches_of_like_length() -> None:
    assert cut(5, 14, 3, 7, 1) == (Stretch(5, 7, 7, 1), Stretch(8, 10, 7, 1), Stretch(11, 14, 7, 1))
    assert cut(5, 5, 3, 7, 1) == (Stretch(5, 5, 7, 1),)
