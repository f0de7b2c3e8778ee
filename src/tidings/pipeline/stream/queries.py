"""Spark's queries as the pipeline has them: the one over the journal, and what can be learnt from any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.pipeline.plans.plans import Plans
from tidings.pipeline.spark.session import is_connect, parallelism
from tidings.pipeline.stream.sink import RemoteSink, Sink, new_query
from tidings.store import Gap
from tidings.store.notifications.progress import COMPOSITES, MATCHES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

JOURNAL = "journal"


def start_matching(
    session: SparkSession, store_url: str, plans: Plans, sink: Sink, checkpoint: str, most_rows: int, once: bool,
    holder: str,
) -> StreamingQuery:  # fmt: skip
    """From the journal to the notifications; on and on or, once, through all that is there now. `holder` has the
    pipeline's lease."""
    from tidings.pipeline.stream.source import format_of, journal_source

    shared, tasks = plans.for_workers(), parallelism(session)
    session.dataSource.register(journal_source(store_url, shared, most_rows, tasks))
    sink.plans, sink.tasks = shared, tasks
    remote = RemoteSink(store_url, shared, tasks, new_query(), holder)
    writer = (
        session.readStream.format(format_of(MATCHES))
        .load()
        .writeStream.foreachBatch(remote if is_connect(session) else sink)
        .queryName(JOURNAL)
        .option("checkpointLocation", checkpoint)
    )
    return (writer.trigger(availableNow=True) if once else writer.trigger(processingTime="0 seconds")).start()


def failed(queries: list[StreamingQuery]) -> list[StreamingQuery]:
    return [query for query in queries if query.exception() is not None]


def reason(query: StreamingQuery) -> str:
    """What Python said where Spark wraps it, else Spark's own words."""
    lines = [line.strip() for line in str(query.exception()).splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("tidings.")]
    return ours[-1].partition(": ")[2] if ours else lines[0] if lines else "no reason was given"


def is_gap(query: StreamingQuery) -> bool:
    """Whether the sink refused a batch since positions before it are missing; for Spark Connect, where all that comes
    back of an error is its text."""
    return f"{Gap.__module__}.{Gap.__qualname__}: " in str(query.exception())


def rows_per_second(queries: list[StreamingQuery]) -> float:
    """What comes in from files and Kafka."""
    looks = [query.lastProgress for query in queries if query.name not in (JOURNAL, COMPOSITES)]
    return sum(look["processedRowsPerSecond"] or 0.0 for look in looks if look)
