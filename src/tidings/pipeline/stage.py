"""The match stage: fixed rows in, one row for each event that matched something out, inside Spark's `mapInArrow`.

Payloads become an `EventBatch` by the plan's catalog, without being validated again. The catalog may be newer than the
one an event was accepted under: growth never makes an event invalid or changes what a filter says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidings.events import EventBatch
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.saved_files import UnusablePlan
from tidings.pipeline.found import found
from tidings.pipeline.opened import decoder_of, opened
from tidings.pipeline.plans import WorkerPlans
from tidings.schema import Catalog

MATCHED_ROW = "first long, position long, subscriptions array<string>, problem string, events long, shards int"
_MATCHED = pa.schema(
    [
        ("first", pa.int64()),  # of a stretch that was matched as a whole; null for an event
        ("position", pa.int64()),
        ("subscriptions", pa.list_(pa.string())),
        ("problem", pa.string()),  # why an event of the journal cannot be read
        ("events", pa.int64()),
        ("shards", pa.int32()),
    ]
)


@dataclass(frozen=True, slots=True)
class MatchStage:
    """Called in each worker for each partition."""

    plans: WorkerPlans

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        seen = 0
        for rows in batches:
            ends = rows.filter(rows.column("payload").is_null())
            events = rows.filter(rows.column("payload").is_valid())
            if events.num_rows:
                seen += events.num_rows
                yield from self._matched(events)
            if ends.num_rows:
                yield _ended(ends, seen)

    def _matched(self, rows: Any) -> Iterator[Any]:
        plan, shard, shards = (rows.column(name)[0].as_py() for name in ("plan", "shard", "shards"))
        most_kept = 1 if shards > 1 else 2
        for place, folder in enumerate(self._folders(plan, shard, shards, most_kept)):
            matcher = opened(folder, most_kept)
            batch, problems = read_payloads(
                rows.column("payload").to_pylist(), rows.column("position"), matcher.catalog
            )
            yield from matched_rows(batch, matcher)
            if problems and shard == place == 0:
                yield pa.RecordBatch.from_pylist(problems, schema=_MATCHED)

    def _folders(self, plan: int, shard: int, shards: int, most_kept: int) -> list[Path]:
        """Where the plan is, the first folder opened: it may be swept away between the look and the opening, and then
        a later one does."""
        while True:
            folders = self.plans.usable(plan, shard, shards)
            try:
                for folder in folders[:1]:
                    opened(folder, most_kept)
            except UnusablePlan:
                if folders[0].is_dir():
                    self.plans.drop(folders[0])
                    raise
            else:
                return folders


def read_payloads(payloads: list[str], positions: Any, catalog: Catalog) -> tuple[EventBatch, list[dict[str, Any]]]:
    """The events of a stretch of the journal, and what cannot be read (the journal was damaged, or written by hand)."""
    batch, problems = decoder_of(catalog).decode(payloads, positions)
    return batch, [{"position": position, "problem": problem} for position, problem in problems]


def matched_rows(batch: EventBatch, matcher: BoxMatcher) -> Iterator[Any]:
    """One row for each event that matched, with the list of its subscriptions."""
    for rows, lists in found(batch, matcher):
        count = len(rows)
        columns = [
            pa.nulls(count, pa.int64()), batch.positions.take(pa.array(rows)), lists, pa.nulls(count, pa.string()),
            pa.nulls(count, pa.int64()), pa.nulls(count, pa.int32()),
        ]  # fmt: skip
        yield pa.RecordBatch.from_arrays(columns, schema=_MATCHED)


def _ended(ends: Any, events: int) -> Any:
    rows = [
        {"first": row["first"], "position": row["position"], "events": events, "shards": row["shards"]}
        for row in ends.to_pylist()
    ]
    return pa.RecordBatch.from_pylist(rows, schema=_MATCHED)
