"""What a shard made of a batch, on its way from its task to the sink. Small parts travel through Spark, large ones are
staged beside it, so that neither Java nor the sink has to hold all of it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from tidings.pipeline.stream.chunks import merged
from tidings.pipeline.stream.staging import Run, RunWriter, Staging
from tidings.store.notifications.composite_batch import ORDER, Changes, Detected, detected_rows
from tidings.store.notifications.known_places import KnownPlaces

_FOUND_AT_ONCE = 50_000  # detections that a task holds before it stages them
_A_CHUNK = 2_000  # detections: the sink has one chunk of every run in memory
_INLINE = 1 << 16  # bytes of changes that are not worth a file
_CHANGES_AT_ONCE = 1 << 25  # bytes of them that the sink takes together
_read_changes = msgspec.msgpack.Decoder(Changes).decode
_Run = tuple[str, int, bytes | None]
_Staged = tuple[str, int, bytes | None]  # name, size, and the bytes if they are few


class ShardDone(msgspec.Struct):
    """`stretches` are those it heard of: first, last, and how far their tasks came; all of it is `reached`.
    `seconds`: what the longest of them took, and then the shard, with those before it in its task. `runs` name
    what was detected, `changes` how states changed. `dropped`: span, subscription, owner, and how many instances found
    no room."""

    shard: int
    stretches: list[tuple[int, int, int]]
    reached: int
    frontier: int | None = None
    events: int = 0
    seconds: tuple[float, float] = (0.0, 0.0)
    runs: list[_Run] = []
    changes: list[_Staged] = []
    closed: list[int] = []
    late: list[tuple[int, int]] = []
    dropped: list[tuple[int, str, str, int]] = []


class ShardWriter:
    """Stages what a shard makes of a batch."""

    def __init__(self, staging: Staging, batch: str) -> None:
        self._staging, self._batch = staging, batch
        self._found: list[Detected] = []
        self._runs: list[_Run] = []
        self._changes: list[_Staged] = []

    def find(self, found: list[Detected], places: KnownPlaces) -> None:
        self._found += found
        if len(self._found) >= _FOUND_AT_ONCE:
            self.flush(places)

    def flush(self, places: KnownPlaces) -> None:
        """What was found until now becomes a run."""
        rows, writer = detected_rows(self._found, places), RunWriter(self._staging, self._batch)
        for first in range(0, len(rows), _A_CHUNK):
            writer.write(rows.slice(first, _A_CHUNK))
        run = writer.close()
        self._runs.append((run.name, run.chunks, run.body))
        self._found = []

    def change(self, changes: Changes) -> None:
        if not (changes.states or changes.added or changes.gone or changes.early):
            return
        name, body = f"{self._batch}-{uuid.uuid4().hex}", msgspec.msgpack.encode(changes)
        if len(body) > _INLINE:
            self._staging.put(name, 0, body)
        self._changes.append((name, len(body), body if len(body) <= _INLINE else None))

    def close(self, done: ShardDone, places: Callable[[], KnownPlaces]) -> None:
        if self._found:
            self.flush(places())
        done.runs, done.changes = self._runs, self._changes


def found_in(done: Iterable[ShardDone], staging: Staging) -> Iterator[Any]:
    """What all shards detected, in order."""
    return merged([Run(*run).read(staging) for one in done for run in one.runs], ORDER)


def changes_in(done: Iterable[ShardDone], staging: Staging) -> Iterator[Changes]:
    """Some shards' at a time: in large lists, keys that are neighbours in an index are together."""
    together, size = Changes([], [], [], []), 0
    for name, length, body in (staged for one in done for staged in one.changes):
        if size and size + length > _CHANGES_AT_ONCE:
            yield together
            together, size = Changes([], [], [], []), 0
        one = _read_changes(staging.get(name, 0) if body is None else body)
        together = Changes(
            [*together.states, *one.states],
            [*together.added, *one.added],
            [*together.gone, *one.gone],
            [*together.early, *one.early],
        )
        size += length
    if size:
        yield together
