"""The match stage, inside Spark's `mapInArrow`: stretches of the journal in; matches staged; a summary out.

A task reads the events of its stretch from the store itself, page by page, parses each once, matches it with every
shard of the plan and stages what it found (`staging`). What passes through Spark is small, whatever matches. Payloads
become an `EventBatch` by the plan's catalog, without being validated again: it may be newer than the one an event was
accepted under, but growth never makes an event invalid or changes what a filter says of it.

A task that has found a great deal stops before the end of its stretch and says how far it came."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.events import EventBatch
from tidings.matching.plan.saved_files import UnusablePlan
from tidings.pipeline.plans.plans import WorkerPlans, folders_of
from tidings.pipeline.spark.worker_cache import OpenedPlan, opened_plan, opened_store
from tidings.pipeline.stream.attempts import stretch_of
from tidings.pipeline.stream.chunks import chunk_of
from tidings.pipeline.stream.failures import failed_events, packed
from tidings.pipeline.stream.match_parts import Limits, MatchParts
from tidings.pipeline.stream.payloads import read_payloads
from tidings.pipeline.stream.quota_cut import QuotaCut
from tidings.pipeline.stream.staging import Run, RunWriter, Staging
from tidings.pipeline.stream.stretch import Stretch
from tidings.store import Store
from tidings.store.journal.stored_events import EventPage
from tidings.store.notifications.expression_errors import FailedEvent
from tidings.store.notifications.quotas import A_MINUTE

Rows = npt.NDArray[np.int64]

SUMMARY_ROW = (
    "first long, last long, done long, events long, matches long, plan long, shards int, seconds double, run string, "
    "chunks int, body binary, page int, position long, problem string, failed binary"
)
SUMMARY = pa.schema(
    [
        ("first", pa.int64()),  # of every row: which stretch it is about
        ("last", pa.int64()),
        ("done", pa.int64()),  # how far the task came; null in the rows about runs and problems
        ("events", pa.int64()),
        ("matches", pa.int64()),
        ("plan", pa.int64()),
        ("shards", pa.int32()),
        ("seconds", pa.float64()),  # that the task took, once the plan was open
        ("run", pa.string()),
        ("chunks", pa.int32()),
        ("body", pa.binary()),
        ("page", pa.int32()),  # runs of one page are to be merged
        ("position", pa.int64()),
        ("problem", pa.string()),  # why an event of the journal cannot be read
        ("failed", pa.binary()),  # events of a page on which expressions ended in an error
    ]
)


@dataclass(frozen=True, slots=True)
class MatchStage:
    """Called in each worker for each partition; partitions hold stretches, or numbers of the `stretches` here."""

    plans: WorkerPlans
    store: str = field(repr=False)  # a URL, which may hold a password
    staging: Staging
    batch: str
    limits: Limits = field(default_factory=Limits)
    stretches: tuple[Stretch, ...] = ()

    def over(self, stretches: tuple[Stretch, ...], limits: Limits) -> MatchStage:
        return replace(self, stretches=stretches, limits=limits)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        store = opened_store(self.store)
        for rows in batches:
            for row in rows.to_pylist():
                yield pa.RecordBatch.from_pylist(_Task(self, stretch_of(self, row), store).summary(), schema=SUMMARY)


class _FoundInPage(NamedTuple):
    runs: list[Run]
    failed: list[FailedEvent]


class _Task:
    """One stretch."""

    def __init__(self, stage: MatchStage, stretch: Stretch, store: Store) -> None:
        self._stage, self._stretch, self._store = stage, stretch, store
        self._limits = stage.limits
        self._parts = MatchParts(stage.limits)
        self._matches = self._staged = 0
        self._begun = 0.0
        self._cuts = [QuotaCut(store.quotas, stretch.first, stretch.last) for _ in range(stretch.shards)]

    def summary(self) -> list[dict[str, Any]]:
        stretch = self._stretch
        about = {"first": stretch.first, "last": stretch.last}
        rows: list[dict[str, Any]] = []
        done, page, events = stretch.first - 1, 0, 0
        while done < stretch.last and not self._enough():
            read = self._store.event_page(done, stretch.last, self._limits.rows, self._limits.bytes)
            count, reached, found, problems = self._page(read)
            done, events = reached, events + count
            rows += [
                about | {"run": run.name, "chunks": run.chunks, "body": run.body, "page": page} for run in found.runs
            ]
            if found.failed:
                rows.append(about | {"failed": packed(found.failed)})
            rows += [about | problem for problem in problems if problem["position"] <= done]
            page += 1
        seconds = time.monotonic() - self._begun if self._begun else 0.0
        matched = {"done": done, "events": events, "matches": self._matches, "seconds": seconds}
        return [*rows, about | matched | {"plan": stretch.plan, "shards": stretch.shards}]

    def _page(self, page: EventPage) -> tuple[int, int, _FoundInPage, list[dict[str, Any]]]:
        """How many events were matched, the position reached, what was found, and what cannot be read."""
        while True:
            folders = folders_of(self._stage.plans, self._stretch.plan, self._stretch.shards)
            try:
                catalog = self._plan(folders, 0).matcher.catalog
                batch, problems = read_payloads(
                    page.payloads, pa.array(page.positions, pa.int64()), pa.array(page.accepted, pa.int64()), catalog
                )
                count, found = self._matched(batch, _minutes(page, batch), folders)
            except UnusablePlan:
                if all(folder.is_dir() for folder in folders):
                    for folder in folders:
                        self._stage.plans.drop(folder)
                    raise
                continue  # swept away between the look and the opening: a later one does
            reached = page.upto if count == len(batch) else batch.positions[count].as_py() - 1
            return count, reached, found, problems

    def _plan(self, folders: list[Path], shard: int) -> OpenedPlan:
        return opened_plan(folders[shard], 1 if len(folders) > 1 else 2)

    def _matched(self, batch: EventBatch, minutes: Rows, folders: list[Path]) -> tuple[int, _FoundInPage]:
        """With every shard. The first decides how many events there is time and room for; where a later one has room
        for fewer, all begin again with those."""
        count = len(batch)
        cuts = self._cuts if len(self._cuts) == len(folders) else [self._cuts[0].copy() for _ in folders]
        while True:
            tried = [cut.copy() for cut in cuts]
            matches = staged = 0
            whole = _FoundInPage([], [])
            for shard in range(len(folders)):
                plan = self._plan(folders, shard)
                self._begun = self._begun or time.monotonic()
                writer = RunWriter(self._stage.staging, self._stage.batch)
                done, found = self._with_shard(batch.slice(0, count), minutes, plan, tried[shard], writer, whole.failed)
                if done < count:
                    count = done
                    if shard:
                        break
                matches, staged = matches + found, staged + writer.rows
                whole.runs.append(writer.close())
            else:
                self._cuts = tried
                self._matches, self._staged = self._matches + matches, self._staged + staged
                return count, whole

    def _with_shard(
        self, batch: EventBatch, minutes: Rows, plan: OpenedPlan, cut: QuotaCut, writer: RunWriter,
        failed: list[FailedEvent],
    ) -> tuple[int, int]:  # fmt: skip
        """How many events were matched, and how many matches they have."""
        done = found = 0
        for first, last, matches in self._parts.of(plan.matcher, batch):
            part = batch.slice(first, last)
            writer.write(chunk_of(part, minutes[first:last], matches, plan, cut))
            failed += failed_events(part, matches, plan.matcher.spans)
            done, found = last, found + len(matches)
            if self._enough(writer.rows):
                break
        return done, found

    def _enough(self, more: int = 0) -> bool:
        late = self._begun and time.monotonic() - self._begun > self._limits.seconds
        return bool(late) or self._staged + more >= self._limits.staged


def _minutes(page: EventPage, batch: EventBatch) -> Rows:
    """Of the times of acceptance, for each event that can be read."""
    places = np.searchsorted(np.array(page.positions, np.int64), batch.positions.to_numpy())
    minutes: Rows = np.array(page.accepted, np.int64)[places] // A_MINUTE
    return minutes
