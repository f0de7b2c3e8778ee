"""DataFrames of events, as users of Spark have them: matched with a plan, sifted for what is refused, or selected
by a filter.

A DataFrame has the columns of our Parquet files: id, event_type, optionally source, time and contact, and one for
each attribute. All three jobs are `mapInArrow` without state, so they work on a streaming DataFrame too. Nothing
here runs once per event or match: columns come in, columns go out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa
from pyspark.sql.functions import explode

from tidings.events import RefusedEvent, Sieve
from tidings.events.arrow_columns import rows_of
from tidings.events.files.chunk import check_header
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.pipeline.batch.columns import condition
from tidings.pipeline.direct.direct import Folders, found_rows
from tidings.pipeline.spark.worker_cache import opened
from tidings.schema import Catalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FOUND = "event string, source string, subscriptions array<string>"
_REFUSED = (
    "event string, source string, errors array<struct<rule: string, attribute: string, value: string, message: string>>"
)
_ERROR = pa.struct([(name, pa.string()) for name in ("rule", "attribute", "value", "message")])


def matched(events: DataFrame, plan: Folders) -> DataFrame:
    """One row a match: event, source, subscription. From Python they come with one row an event and a list, which
    Spark opens."""
    found = events.mapInArrow(partial(_match, plan), _FOUND)
    return found.select("event", "source", explode("subscriptions").alias("subscription"))


def refused(events: DataFrame, catalog: Catalog) -> DataFrame:
    """One row for each event that breaks rules, with all of them; the offending values as JSON."""
    return events.mapInArrow(partial(_refuse, catalog), _REFUSED)


def selected(events: DataFrame, filter: Filter, catalog: Catalog) -> DataFrame:
    """The rows that are valid events and match. Spark selects as far as it can; what it lets pass is checked here,
    and matched where Spark could not say everything that the filter says."""
    known = condition(filter, catalog, events.schema)
    rest = None if known.exact else filter
    return events.where(known.column).mapInArrow(partial(_select, rest, catalog), events.schema)


def check_columns(events: DataFrame, catalog: Catalog) -> None:
    """Raises WrongHeader, which names every column that the schema does not know."""
    check_header(events.columns, catalog, "the DataFrame")


def _match(plan: Folders, batches: Iterator[Any]) -> Iterator[Any]:
    folders = plan()
    matchers = [opened(folder, most_kept=max(2, len(folders))) for folder in folders]
    sieve = Sieve(matchers[0].catalog)
    for rows in batches:
        batch = sieve.sift(rows_of(rows)).batch
        for matcher in matchers:
            yield from found_rows(batch, matcher)


def _refuse(catalog: Catalog, batches: Iterator[Any]) -> Iterator[Any]:
    sieve = Sieve(catalog)
    for rows in batches:
        raw = rows_of(rows)
        refusals = sieve.sift(raw).refused
        events = pa.array([refusal.as_json()["id"] for _, refusal in refusals], pa.string())
        sources = pa.array([_text(raw.row(row)) for row, _ in refusals], pa.string())
        errors = pa.array([_errors(refusal) for _, refusal in refusals], pa.list_(_ERROR))
        yield pa.RecordBatch.from_arrays([events, sources, errors], ["event", "source", "errors"])


def _text(raw: Any) -> str | None:
    """The source, where it is one."""
    source = raw.get("source")
    return source if isinstance(source, str) else None


def _errors(refusal: RefusedEvent) -> list[dict[str, Any]]:
    errors: list[dict[str, Any]] = refusal.as_json()["errors"]
    return [{**error, "value": msgspec.json.encode(error["value"]).decode()} for error in errors]


def _select(filter: Filter | None, catalog: Catalog, batches: Iterator[Any]) -> Iterator[Any]:
    sieve = Sieve(catalog)
    matcher = BoxMatcher(catalog, threads=1)
    if filter is not None:
        matcher.add(Subscription("", filter))
    for rows in batches:
        sifted = sieve.sift(rows_of(rows))
        chosen = sifted.rows
        if filter is not None:
            offsets = matcher.match(sifted.batch).offsets
            chosen = chosen.take(pa.array(np.flatnonzero(np.diff(offsets))))
        yield rows if len(chosen) == rows.num_rows else rows.take(chosen)
