"""Batches of the composites' query without Spark: the same stages and the same sink, called one after another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tidings.pipeline.composites.known import KnownComposites
from tidings.pipeline.composites.leaf_stage import StretchMatches
from tidings.pipeline.composites.shard_done import ShardWriter
from tidings.pipeline.composites.shard_stage import answer
from tidings.pipeline.composites.sink import CompositeRound, store_round
from tidings.pipeline.stream.match_parts import Limits
from tidings.store import Store
from tidings.store.notifications.commits import Pace
from tidings.store.notifications.progress import COMPOSITES
from tidings.store.notifications.waiting import SHARDS


@dataclass(frozen=True)
class Held:
    """Staged in memory."""

    bodies: dict[tuple[str, int], Any] = field(default_factory=dict)

    def put(self, run: str, chunk: int, body: Any) -> None:
        self.bodies[run, chunk] = body

    def get(self, run: str, chunk: int) -> Any:
        return self.bodies[run, chunk]

    def sweep(self, batch: str) -> None:
        for name in [name for name in self.bodies if name[0].startswith(batch)]:
            del self.bodies[name]


@dataclass(frozen=True)
class Answered:
    """What the shards said of a batch, before anything of it is stored."""

    round: CompositeRound
    staging: Held
    lateness: int

    def stored_in(self, store: Store, pace: Pace | None = None) -> int:
        """How many notifications that added."""
        return store_round(store, self.round, self.staging, self.lateness, 5_000, pace or Pace())


def answers(
    store: Store, known: KnownComposites, lateness: int, first: int, last: int, stretches: int = 1,
    limits: Limits | None = None, room: int = 10_000,
) -> Answered:  # fmt: skip
    length = last - first + 1
    cuts = sorted({first + length * piece // stretches for piece in range(stretches + 1)})
    rows: list[dict[str, Any]] = []
    for one, other in pairwise(cuts):
        known.learn(other - 1)
        rows += StretchMatches(store, known, lateness, one, other - 1, limits or Limits()).rows()
    staging = Held()
    done = [
        answer(
            store,
            known,
            lateness,
            shard,
            [row for row in rows if row["shard"] == shard],
            ShardWriter(staging, "b"),
            None,
            room,
        )[0]
        for shard in range(SHARDS)
    ]
    return Answered(CompositeRound(done), staging, lateness)


def run_batch(
    store: Store, known: KnownComposites, lateness: int, first: int, last: int, stretches: int = 1,
    limits: Limits | None = None, pace: Pace | None = None, room: int = 10_000,
) -> int:  # fmt: skip
    """How many notifications it stored. Lateness is in microseconds; `room` instances may wait."""
    added = 0
    while first <= last:
        done = answers(store, known, lateness, first, last, stretches, limits, room)
        added += done.stored_in(store, pace)
        first = done.round.reached + 1
    return added


def run_all(
    store: Store, lateness: int, cuts: Iterable[int] = (), stretches: int = 1, limits: Limits | None = None,
    pace: Pace | None = None, room: int = 10_000,
) -> int:  # fmt: skip
    """To the end of the journal, in batches that end at these positions, each by a worker that knows nothing yet."""
    added, tail = 0, store.tail()
    if not store.begin_composites():
        return 0
    for last in sorted({*cuts, tail}):
        first = store.committed(COMPOSITES) + 1
        if first <= last <= tail:
            added += run_batch(store, KnownComposites(store), lateness, first, last, stretches, limits, pace, room)
    return added
