"""The sink: each batch becomes notifications of the store, in the order of the journal.

Spark may run a batch again, after a crash or with a checkpoint that was lost: what is stored already is skipped, so it
adds nothing. Batches are told apart by journal position, never by Spark's batch id, which starts over with the
checkpoint. A batch is matched in rounds: tasks that found a great deal stop early, and a round that failed (a worker
was killed for its memory, say) is tried again with less at a time; so no batch is too large, whatever the checkpoint
says."""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tidings.errors import Explained, PipelineError, TidingsError
from tidings.events import BrokenRule
from tidings.pipeline.plans.plans import WorkerPlans
from tidings.pipeline.spark.worker_cache import opened_store
from tidings.pipeline.stream.rounds import Round, cut
from tidings.pipeline.stream.stage import SUMMARY_ROW, Limits, MatchStage
from tidings.pipeline.stream.staging import StagedRows, Staging
from tidings.pipeline.stream.stretch import Stretch
from tidings.store import DeadLetter, Store
from tidings.store.notifications.commits import Pace
from tidings.store.notifications.progress import FIRST_BATCH

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST_FAILURES = 6  # of one round, each with less at a time than the one before
_QUICK, _SLOW = 1.0, 2.5  # seconds: after a round that took less, or more, the next batch is larger, or smaller
_LARGEST_BATCH = 1_000_000  # positions
_LIMITS = Limits()


class Stopped(Explained, PipelineError):
    template = "the batch was stopped; the rest is matched at the next start"


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
        self._size = BatchSize(store.place().batch_limit or FIRST_BATCH)
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
        bounds: tuple[int, int] | None = None  # the first and the last position of the batch
        events = added = failures = 0
        while True:
            if self.stopping.is_set():
                raise Stopped
            try:
                found = Round(_run(frame, stage))
            except Exception as problem:
                failures += 1
                if failures > _MOST_FAILURES or not _may_pass(problem) or self.stopping.is_set():
                    raise
                tried = stage.stretches or tuple(Stretch(**row) for row in frame.toArrow().sort_by("first").to_pylist())
                bounds = bounds or (tried[0].first, tried[-1].last)
                stage = _halved(stage, tried)
                continue
            bounds, failures = bounds or (found.first, found.last), 0
            self._size.adapt(found, self.tasks)
            added += self._store_round(found)
            events += found.events
            if found.reached >= bounds[1]:
                return *bounds, events, added
            stage = self._next(stage, found, bounds[1])

    def _store_round(self, found: Round) -> int:
        self._bury(found.problems())
        begun = time.monotonic()
        added = self._store.commit(
            found.first, found.reached, found.chunks(self.staging), pace=self._pace, batch_limit=self._size.positions,
            failed=found.failed(),
        )  # fmt: skip
        self._size.storing = time.monotonic() - begun
        return added

    def _next(self, stage: MatchStage, found: Round, last: int) -> MatchStage:
        """For the round after this one."""
        first = max(found.reached, self._store.committed()) + 1
        last = min(last, first + self._size.positions - 1)
        return replace(stage, limits=self._limits, stretches=cut(first, last, self.tasks, found.plan, found.shards))

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


class BatchSize:
    """How many positions a batch may have, so that its matches take about two seconds to find and store; what Spark
    takes for any batch does not count."""

    def __init__(self, positions: int) -> None:
        self.positions = positions
        self.storing = 0.0  # seconds that the last round took to store

    def adapt(self, found: Round, tasks: int) -> None:
        seconds, length = found.seconds + self.storing, found.last - found.first + 1
        if found.shortest is not None:
            self.positions = found.shortest * tasks
        elif seconds > _SLOW:
            self.positions = max(tasks, int(length * _SLOW / seconds))
        elif seconds < _QUICK and 2 * length > self.positions:
            self.positions = min((8 if seconds < _QUICK / 8 else 2) * self.positions, _LARGEST_BATCH)


def new_query() -> str:
    """A name that tells what this query stages from what others do."""
    return uuid.uuid4().hex[:12]


def _run(frame: DataFrame, stage: MatchStage) -> Any:
    if stage.stretches:
        pieces = len(stage.stretches)
        frame = frame.sparkSession.range(0, pieces, 1, pieces)
    return frame.mapInArrow(stage, SUMMARY_ROW).toArrow()


def _halved(stage: MatchStage, tried: tuple[Stretch, ...]) -> MatchStage:
    """For another attempt at a round that failed: the first half of its positions, and smaller pages."""
    first, last = tried[0].first, (tried[0].first + tried[-1].last) // 2
    return replace(stage, limits=stage.limits.smaller(), stretches=cut(first, last, 1, tried[0].plan, tried[0].shards))


def _may_pass(problem: Exception) -> bool:
    """Whether less at a time may help: not where Tidings itself said what is wrong."""
    said = (line.strip() for line in str(problem).splitlines())
    return not isinstance(problem, TidingsError) and not any(line.startswith("tidings.") for line in said)
