"""For a Spark job of your own: match a DataFrame of events with many filters, query one with a filter, or run the
pipeline in your session.

    from tidings import spark

    found = spark.match(events, "subscriptions.jsonl", "schema.json")
    cheap = spark.query(events, "price < 1300 and brand = 'mini'", "schema.json")
    spark.run_pipeline(session, "postgresql://tidings@db.example.org/tidings", plans="s3a://bucket/plans")

`events` is a DataFrame, also a streaming one, in the form of our Parquet files (docs/events.md): the columns id and
event_type, optionally source, time and contact, and one for each attribute, with arrays where there are several
values. An event that breaks the schema's rules never stops a job: it matches nothing, and `refused` tells why."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.language import Filter, Subscription
from tidings.pipeline.batch import batch_plan, frames
from tidings.schema import Catalog
from tidings.schema.files import read_catalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["match", "query", "refused", "run_pipeline"]

Schema = Catalog | str | os.PathLike[str]


def match(
    events: DataFrame,
    subscriptions: Iterable[Subscription] | DataFrame | str | os.PathLike[str],
    schema: Schema,
    folder: str | os.PathLike[str] | None = None,
) -> DataFrame:
    """One row a match: event, source, subscription (all strings; an event without a source has the source '').

    `subscriptions`: Subscription objects, a DataFrame of id and filter, a file of JSON Lines, or the folder or URI of a
    saved plan. They are made a plan once, here on the driver; workers read it by memory map. `folder` is where the plan
    is saved, for workers on other machines and for the next time: a folder that they share, or a URI such as
    s3a://BUCKET/PATH from which they fetch it. By default it is a temporary one of this process."""
    catalog = _catalog(schema)
    frames.check_columns(events, catalog)
    return frames.matched(events, batch_plan.folders_of(subscriptions, catalog, events.sparkSession, folder))


def refused(events: DataFrame, schema: Schema) -> DataFrame:
    """The events that break rules: event, source, errors (an array of rule, attribute, value as JSON, message)."""
    catalog = _catalog(schema)
    frames.check_columns(events, catalog)
    return frames.refused(events, catalog)


def query(events: DataFrame, filter: Filter | str, schema: Schema) -> DataFrame:
    """The rows of the events that match the filter.

    Spark itself selects wherever an expression over columns can say what the filter says, down to the Parquet files;
    for words of text and the like Tidings looks at what Spark has selected."""
    catalog = _catalog(schema)
    frames.check_columns(events, catalog)
    return frames.selected(events, Filter.parse(filter, catalog) if isinstance(filter, str) else filter, catalog)


def run_pipeline(
    session: SparkSession,
    store: str,
    plans: str = "",
    checkpoints: str = "",
    sources: Sequence[str] = (),
    data: str | os.PathLike[str] | None = None,
    once: bool = False,
    stopped: threading.Event | None = None,
    tell: Callable[[str], None] = print,
) -> None:
    """`tidings pipeline` in a session of yours, also one of Spark Connect, until `stopped` is set or, `once`, until all
    that is there now is done. The session goes on afterwards.

    `plans` is a URI, or a path that every machine mounts, from which workers fetch plans; `checkpoints` one that Spark
    can write to. `data` is a folder of this machine for what the planner keeps; by default a temporary one, and then
    the plan is made from the journal at each start. Where the session's workers are on this machine none is needed."""
    from tidings.pipeline.pipeline import Pipeline, PipelineSettings

    with ExitStack() as stack:
        folder = data or stack.enter_context(tempfile.TemporaryDirectory(prefix="tidings-"))
        settings = PipelineSettings(Path(folder), store, sources=tuple(sources), plans=plans, checkpoints=checkpoints)
        pipeline = stack.enter_context(Pipeline(settings, tell))
        pipeline.run(stopped or threading.Event(), once, spark=session)


def _catalog(schema: Schema) -> Catalog:
    return schema if isinstance(schema, Catalog) else read_catalog(schema)[0]
