"""Whether a batch is whole, as the sink sees it."""

import pyarrow as pa
import pytest

from tidings.pipeline.sink import TornBatch, stretch_of


def rows(*ends: tuple[int, int, int], shards: int = 1) -> pa.Table:
    """Each is a stretch that a task has done: its first and last position, and its events."""
    first, last, events = zip(*ends, strict=True) if ends else ((), (), ())
    columns = {
        "first": pa.array([*first, None], pa.int64()),
        "position": pa.array([*last, 5], pa.int64()),
        "events": pa.array([*events, None], pa.int64()),
        "shards": pa.array([*([shards] * len(ends)), None], pa.int32()),
    }
    return pa.table(columns)


def test_stretches_one_after_another() -> None:
    assert stretch_of(rows((11, 20, 7), (1, 10, 9))) == (1, 20, 16)


def test_every_shard_answers_for_each_stretch() -> None:
    assert stretch_of(rows((1, 10, 9), (1, 10, 9), (11, 12, 2), (11, 12, 2), shards=2)) == (1, 12, 11)
    with pytest.raises(TornBatch, match="in part"):
        stretch_of(rows((1, 10, 9), (11, 12, 2), (11, 12, 2), shards=2))


def test_a_stretch_that_is_missing() -> None:
    with pytest.raises(TornBatch):
        stretch_of(rows((1, 10, 9), (12, 20, 7)))
    with pytest.raises(TornBatch):
        stretch_of(rows())
