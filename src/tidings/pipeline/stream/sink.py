"""The sink: each batch becomes notifications of the store, in the order of the journal.

Spark may run a batch again, after a crash or with a checkpoint that was lost: what is stored already is skipped, so it
adds nothing. Batches are told apart by journal position, never by Spark's batch id, which starts over with the
checkpoint. A batch is matched in rounds (`attempts`): tasks that found a great deal stop early."""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidings.events import BrokenRule
from tidings.pipeline.plans.plans import WorkerPlans
from tidings.pipeline.spark.worker_cache import opened_store
from tidings.pipeline.stream.attempts import BatchSize, frame_of, rounds
from tidings.pipeline.stream.match_parts import Limits
from tidings.pipeline.stream.rounds import Round
from tidings.pipeline.stream.stage import SUMMARY_ROW, MatchStage
from tidings.pipeline.stream.staging import StagedRows, Staging
from tidings.store import DeadLetter, Store
from tidings.store.notifications.commits import Pace
from tidings.store.notifications.progress import FIRST_BATCH

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LARGEST_BATCH = 1_000_000  # positions
_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Batch:
    """What one batch did; `seconds` is how long matching and storing it took."""

    first: int
    last: int
    events: int
    notifications: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Total:
    """All batches since the pipeline started."""

    batches: int = 0
    events: int = 0
    notifications: int = 0
    seconds: float = 0.0

    def with_one_more(self, batch: Batch) -> Total:
        return Total(
            self.batches + 1,
            self.events + batch.events,
            self.notifications + batch.notifications,
            self.seconds + batch.seconds,
        )


class Sink:
    """Called by Spark with each batch, in the driver."""

    def __init__(
        self, store: Store, plans: WorkerPlans, staging: Staging, limits: Limits = _LIMITS, query: str = ""
    ) -> None:
        self._store, self.plans, self.staging = store, plans, staging
        self.tasks = 1  # that run at once
        self._query = query or new_query()
        self._limits = limits
        self._pace = Pace()
        self._size = BatchSize(store.place().batch_limit or FIRST_BATCH, _LARGEST_BATCH)
        self._batches: list[Batch] = []  # since they were last taken
        self.total = Total()
        self.problem: Exception | None = None  # Spark wraps what is raised here beyond recognition
        self.stopping = threading.Event()

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        begun = time.monotonic()
        name = f"{self._query}-{uuid.uuid4().hex[:12]}"
        try:
            first, last, events, added = self._matched(frame, name)
        except Exception as problem:
            self.problem = problem
            raise
        finally:
            self.staging.sweep(name)
        batch = Batch(first, last, events, added, time.monotonic() - begun)
        self._batches.append(batch)
        self.total = self.total.with_one_more(batch)

    def taken(self) -> tuple[Batch, ...]:
        """The batches since this was last asked."""
        taken, self._batches = tuple(self._batches), []
        return taken

    def _matched(self, frame: DataFrame, name: str) -> tuple[int, int, int, int]:
        """All rounds of a batch: its first and last position, events, notifications added."""
        stage = MatchStage(self.plans, self._store.url, self.staging, name, self._limits)
        first, last, events, added = 0, 0, 0, 0
        for found in rounds(frame, stage, _run, self._size, self.tasks, self.stopping.is_set):
            added += self._store_round(found)
            first, last, events = first or found.first, found.reached, events + found.events
        return first, last, events, added

    def _store_round(self, found: Round) -> int:
        self._bury(found.problems())
        begun = time.monotonic()
        added = self._store.commit(
            found.first, found.reached, found.chunks(self.staging), pace=self._pace, batch_limit=self._size.positions,
            failed=found.failed(),
        )  # fmt: skip
        self._size.storing = time.monotonic() - begun
        return added

    def _bury(self, problems: list[tuple[int, str]]) -> None:
        """An event of the journal that cannot be read stops nobody: the journal keeps it, and it is listed."""
        letters = [
            DeadLetter("journal", str(position), None, "", (BrokenRule("form", None, None, problem),))
            for position, problem in problems
        ]
        if letters:
            self._store.bury(letters)


@dataclass(frozen=True, slots=True)
class RemoteSink:
    """The sink under Spark Connect, which calls it in a process of the server's: it opens the store there. What it has
    done is known by the store alone. It may outlive its client; as soon as another pipeline has taken over, it ends:
    `holder` is whose lease it works under."""

    store_url: str = field(repr=False)
    plans: WorkerPlans
    tasks: int
    query: str
    holder: str

    def __call__(self, frame: DataFrame, batch_id: int) -> None:
        store, staging = opened_store(self.store_url), StagedRows(self.store_url)
        store.check_pipeline_lease(self.holder)
        sink = Sink(store, self.plans, staging, query=self.query)
        sink.tasks = self.tasks
        staging.sweep(self.query)  # left by a batch whose process was killed
        sink(frame, batch_id)


def new_query() -> str:
    """A name that tells what this query stages from what others do."""
    return uuid.uuid4().hex[:12]


def _run(frame: DataFrame, stage: MatchStage) -> Round:
    return Round(frame_of(frame, stage).mapInArrow(stage, SUMMARY_ROW).toArrow())
