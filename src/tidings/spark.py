"""For a Spark job of your own: match a DataFrame of events with many filters, or query one with a filter.

    from tidings import spark

    found = spark.match(events, "subscriptions.jsonl", "schema.json")
    cheap = spark.query(events, "price < 1300 and brand = 'mini'", "schema.json")

`events` is a DataFrame, also a streaming one, in the form of our Parquet files (docs/events.md): the columns id and
event_type, optionally source, time and contact, and one for each attribute, with arrays where there are several
values. An event that breaks the schema's rules never stops a job: it matches nothing, and `refused` tells why."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.language import Filter, Subscription
from tidings.pipeline import batch_plan, frames
from tidings.schema import Catalog
from tidings.schema.files import read_catalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["match", "query", "refused"]

Schema = Catalog | str | os.PathLike[str]


def match(
    events: DataFrame,
    subscriptions: Iterable[Subscription] | DataFrame | str | os.PathLike[str],
    schema: Schema,
    folder: str | os.PathLike[str] | None = None,
) -> DataFrame:
    """One row a match: event, source, subscription (all strings; an event without a source has the source '').

    `subscriptions`: Subscription objects, a DataFrame of id and filter, a file of JSON Lines, or the folder of a saved
    plan. They are made a plan once, here on the driver; workers read it by memory map. `folder` is where the plan is
    saved, for workers on other machines and for the next time; by default it is a temporary one of this process."""
    catalog = _catalog(schema)
    frames.check_columns(events, catalog)
    master = str(events.sparkSession.conf.get("spark.master", "local"))
    plan = batch_plan.plan_of(subscriptions, catalog, master, None if folder is None else Path(folder))
    return frames.matched(events, plan)


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


def _catalog(schema: Schema) -> Catalog:
    return schema if isinstance(schema, Catalog) else read_catalog(schema)[0]
