"""A file of events matched on Spark, with the answers of `events.read_events` and a matcher in one process.

The driver cuts the file into blocks and sends some at a time to the workers, which parse, check, match and write
lines. The answers come back in the order of the file; who was there before, (source, id), is only known here, so
the lines of duplicates are cut out here. While workers are busy with some blocks the driver cuts the next ones."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidings.errors import TidingsError
from tidings.events import Refused, Sieve
from tidings.matching.subscription_batch import SubscriptionBatch
from tidings.pipeline.batch.batch_plan import PlanOutOfReach, plan_of
from tidings.pipeline.batch.blocks import Block, read_blocks
from tidings.pipeline.batch.match_lines import MatchLines, MatchOutput, match_lines
from tidings.pipeline.spark.job_failed import plain_failures
from tidings.pipeline.spark.session import is_local, parallelism, spark_session
from tidings.pipeline.spark.worker_cache import opened
from tidings.schema import Catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BLOCKS_EACH = 4  # for each of the tasks that run at once
_ANSWERS = "place long, found binary"


def match_on_spark(
    subscriptions: SubscriptionBatch, path: Path, catalog: Catalog, form: str | None, master: str,
    shared: Path | None = None,
) -> Iterator[MatchOutput]:  # fmt: skip
    """All of it: a plan for as long as it takes, in a folder that workers share, a session, the answers."""
    if shared is None and not is_local(master):
        raise PlanOutOfReach(master)
    with TemporaryDirectory(prefix="tidings-", dir=shared) as folder:
        plan = plan_of(subscriptions, catalog, master, Path(folder) / "plan")
        yield from match_file(spark_session(master, "tidings match"), path, catalog, plan, form)


def match_file(
    spark: SparkSession, path: Path, catalog: Catalog, plan: Path, form: str | None
) -> Iterator[MatchOutput]:
    """Raises EventError, after the answers to what stood before the damage, and JobFailed."""
    each = _BLOCKS_EACH * parallelism(spark)
    seen = _Seen()
    with ThreadPoolExecutor(1) as aside:
        waiting: Any = None
        for blocks, problem in _groups(read_blocks(path, catalog, form), each):
            running = aside.submit(_answered, spark, blocks, plan) if blocks else None
            if waiting is not None:
                yield from map(seen.without_duplicates, waiting.result())
            waiting = running
            if problem is not None:
                if waiting is not None:
                    yield from map(seen.without_duplicates, waiting.result())
                raise problem
        if waiting is not None:
            yield from map(seen.without_duplicates, waiting.result())


def _groups(blocks: Iterator[Block], each: int) -> Iterator[tuple[list[Block], TidingsError | None]]:
    """So many blocks at a time; with the last of them what ended the file before its end."""
    while True:
        group: list[Block] = []
        try:
            for block in islice(blocks, each):
                group.append(block)
        except TidingsError as problem:
            yield group, problem
            return
        if not group:
            return
        yield group, None


@dataclass(frozen=True, slots=True)
class _Found:
    """What a worker answers to a block; `pairs` are the (source, id) of its valid events."""

    lines: MatchLines
    pairs: list[tuple[str, str]]
    refused: list[Refused]


def _answered(spark: SparkSession, blocks: list[Block], plan: Path) -> list[_Found]:
    """Blocks and answers travel pickled, in rows, since Spark Connect has no RDDs."""
    rows = pa.table({"place": range(len(blocks)), "block": [pickle.dumps(block) for block in blocks]})
    with plain_failures():
        found = spark.createDataFrame(rows).mapInArrow(partial(_answer_rows, plan), _ANSWERS).toArrow()
    return [pickle.loads(answer) for answer in found.sort_by("place").column("found").to_pylist()]


def _answer_rows(plan: Path, batches: Iterator[Any]) -> Iterator[Any]:
    """In a worker; one answer at a time, since a single one may be large."""
    for batch in batches:
        for place, block in zip(batch.column("place"), batch.column("block"), strict=True):
            answer = pickle.dumps(answer_block(plan, pickle.loads(block.as_py())))
            yield pa.RecordBatch.from_pydict({"place": [place.as_py()], "found": [answer]})


def answer_block(plan: Path, block: Block) -> _Found:
    matcher = opened(plan)
    chunk = block.chunk(matcher.catalog)
    sifted = Sieve(matcher.catalog).sift(chunk.columns)
    refused = [Refused(chunk.lines[row], error.id, error.errors) for row, error in sifted.refused]
    batch = sifted.batch
    lines = match_lines(batch.ids, matcher.match(batch), matcher)
    pairs = list(zip(batch.sources.to_pylist(), batch.ids.to_pylist(), strict=True))
    return _Found(lines, pairs, sorted([*chunk.refused, *refused], key=lambda one: one.line))


class _Seen:
    """The (source, id) pairs so far; of two events with the same one the first counts."""

    def __init__(self) -> None:
        self._pairs: set[tuple[str, str]] = set()

    def without_duplicates(self, found: _Found) -> MatchOutput:
        (text, ends, counts), pairs = found.lines, found.pairs
        different = set(pairs)
        if len(different) == len(pairs) and self._pairs.isdisjoint(different):
            self._pairs |= different
            return MatchOutput(text, int(counts.sum()), len(pairs), found.refused, 0)
        kept, matches, events = [], 0, 0
        for row, pair in enumerate(pairs):
            if pair not in self._pairs:
                self._pairs.add(pair)
                kept.append(text[int(ends[row - 1]) if row else 0 : int(ends[row])])
                matches += int(counts[row])
                events += 1
        return MatchOutput(b"".join(kept), matches, events, found.refused, len(pairs) - events)
