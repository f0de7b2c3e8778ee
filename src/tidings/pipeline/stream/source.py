"""The journal as a streaming source of Spark: a row for each stretch of positions, never one that no published plan
covers (of a query that has plans).

An offset is a position and the version of the plan to match with, so that a batch that is run again finds both in
Spark's checkpoint. Each partition is a stretch of positions; its events are read where they are matched (`stage`).

The store's URL may hold a password. Spark shows the options of a source in plans, pages and logs, so the source takes
none: `journal_source` makes a class that carries the URL, and Spark ships that class to the workers pickled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from tidings.pipeline.plans.plans import WorkerPlans
from tidings.pipeline.stream.stretch import Stretch
from tidings.store import Store
from tidings.store.notifications.progress import FIRST_BATCH, MATCHES

_FEWEST_A_STRETCH = 1_000  # fewer events are not worth a task of their own
STRETCH_ROW = pa.schema([("first", pa.int64()), ("last", pa.int64()), ("plan", pa.int64()), ("shards", pa.int32())])
Offset = dict[str, int]


def format_of(query: str) -> str:
    """The name under which Spark knows the journal as a query reads it."""
    return f"tidings_journal_{query}"


@dataclass
class Partition(InputPartition):
    stretch: Stretch


class JournalReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(
        self, store_url: str, plans: WorkerPlans | None, most: int, stretches: int, query: str = MATCHES
    ) -> None:
        self._url = store_url
        self._query = query
        self._plans = plans
        self._most = most
        self._stretches = stretches
        self._target: int | None = None  # of a run that ends
        self._opened: Store | None = None

    def _store(self) -> Store:
        if self._opened is None:
            self._opened = Store.open(self._url)
        return self._opened

    def initialOffset(self) -> Offset:  # noqa: N802 (Spark's name)
        """Without a checkpoint: after what was committed, which the store knows."""
        return {"position": self._store().committed(self._query), "plan": 0, "shards": 1}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._most)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self._covered()["position"]

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        newest = self._covered()
        place = self._store().place(self._query)
        if start["position"] > place.committed:
            # The checkpoint is ahead of the store, which was put back: a batch that the sink refuses tells so.
            return newest | {"position": start["position"] + 1}
        end = newest["position"]
        if isinstance(limit, ReadMaxRows):
            end = min(end, start["position"] + min(limit.max_rows, place.batch_limit or FIRST_BATCH))
        if self._target is not None:
            end = min(end, self._target)
        return start if end <= start["position"] else newest | {"position": end}

    def reportLatestOffset(self) -> Offset:  # noqa: N802
        return self._covered()

    def _covered(self) -> Offset:
        """How far the newest plan reaches: to the next change that is not in it. The tail is read before the change is
        looked for, so that none can come between. Without plans, to the tail."""
        if self._plans is None:
            return {"position": self._store().tail(), "plan": 0, "shards": 1}
        published = self._plans.newest()
        if published is None:
            return {"position": 0, "plan": 0, "shards": 1}
        store = self._store()
        end = store.tail()
        change = store.next_change(published.covers)
        if change is not None:
            end = min(end, change - 1)
        return {"position": end, "plan": published.version, "shards": published.shards}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        first, last = start["position"] + 1, end["position"]
        length = last - first + 1
        pieces = max(1, min(self._stretches, length // _FEWEST_A_STRETCH))
        cuts = [first + length * piece // pieces for piece in range(pieces + 1)]
        return [
            Partition(Stretch(cuts[piece], cuts[piece + 1] - 1, end["plan"], end["shards"])) for piece in range(pieces)
        ]

    def read(self, partition: Partition) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pylist([asdict(partition.stretch)], schema=STRETCH_ROW)

    def commit(self, end: Offset) -> None:
        """Nothing to do: the sink has committed the position in the store."""

    def stop(self) -> None:
        if self._opened is not None:
            self._opened.close()


def journal_source(
    store_url: str, plans: WorkerPlans | None, most: int, stretches: int, query: str = MATCHES
) -> type[DataSource]:
    """The journal as a data source for Spark to register, for one query: batches of at most `most` positions, each cut
    into `stretches` at most. Without plans, its workers know by themselves what there is to match."""

    class JournalSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return format_of(query)

        def schema(self) -> str:
            return "first long, last long, plan long, shards int"

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
            return JournalReader(store_url, plans, most, stretches, query)

    return JournalSource
