"""The journal's events as DataFrames: stretches of positions go to workers, which read them from the store.

Some stretches at a time, so that answers come in the journal's order and soon. A query's filter becomes an
expression over columns (`columns`) as far as it can; only the columns that it names leave the workers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, functions

from tidings.events import EventBatch
from tidings.events.arrays import INSTANTS, as_lists, with_words
from tidings.events.batch import vocabulary
from tidings.language import Filter
from tidings.language.predicates import attributes_of
from tidings.language.tree import And, Node, Not, Or
from tidings.matching.boxes.dimension import column_of
from tidings.pipeline.batch.columns import condition
from tidings.pipeline.batch.history import NOTIFIED, chosen, notified, single
from tidings.pipeline.batch.query import STORED
from tidings.pipeline.spark.job_failed import plain_failures
from tidings.pipeline.spark.session import check_reach, parallelism
from tidings.pipeline.spark.worker_cache import opened
from tidings.pipeline.stream.payloads import read_payloads
from tidings.schema import Catalog, Kind
from tidings.schema.catalog import EVENT_TYPE
from tidings.store import Store
from tidings.store.journal.event_store import EventStore

_STRETCH = 20_000  # positions
_STRETCHES_EACH = 4  # for each of the tasks that run at once
_ELEMENTS = {Kind.NUMERIC: (pa.float64(), "double"), Kind.TIME: (INSTANTS, "timestamp")}
_STORED = "position long, accepted long, payload string, problem string"
_NOTIFIED = "position long, event string, source string, subscription string, owner string, minute long, problem string"


def selected(spark: SparkSession, store: EventStore, filter: Filter, after: int, upto: int) -> Iterator[Any]:
    """What matches, as batches of `query.STORED`."""
    catalog = store.catalog()
    places = {name: f"c{number}" for number, name in enumerate(_names(filter.tree))}
    row = ", ".join([_STORED, *(f"{place} {_types(name, catalog)[1]}" for name, place in places.items())])
    for stretches in _stretches(spark, store, after, upto):
        events = stretches.mapInArrow(partial(_events, store.url, catalog, places), row)
        known = condition(filter, catalog, events.schema, places.get)
        found = events.where(functions.col("problem").isNotNull() | known.column)
        found = found.select("position", "accepted", "payload", "problem")
        if not known.exact:
            found = found.mapInArrow(partial(_matched, store.url, filter), _STORED)
        yield from _collected(found, STORED)


def notifications(spark: SparkSession, store: Store, plan: Path, after: int, upto: int) -> Iterator[Any]:
    """What a plan of spans gives, as batches of `history.NOTIFIED`."""
    for stretches in _stretches(spark, store, after, upto):
        yield from _collected(stretches.mapInArrow(partial(_notified, store.url, plan), _NOTIFIED), NOTIFIED)


def _stretches(spark: SparkSession, store: EventStore, after: int, upto: int) -> Iterator[DataFrame]:
    """DataFrames of some stretches (after, upto] each. Raises LocalStoreOnly."""
    check_reach(store.url, spark)
    tasks = parallelism(spark)
    cuts = [*range(after, upto, _STRETCH), upto]
    for first in range(0, len(cuts) - 1, _STRETCHES_EACH * tasks):
        some = cuts[first : first + _STRETCHES_EACH * tasks + 1]
        yield spark.createDataFrame(pa.table({"after": some[:-1], "upto": some[1:]}))


def _collected(frame: DataFrame, schema: Any) -> Iterator[Any]:
    with plain_failures():
        found = frame.toArrow()
    yield from found.cast(schema).sort_by("position").to_batches()


def _read(url: str, stretches: Iterator[Any]) -> Iterator[Any]:
    """In a worker: the journal's rows of its stretches."""
    for batch in stretches:
        with Store.open(url) as store:
            for stretch in batch.to_pylist():
                yield from store.event_rows(stretch["after"], stretch["upto"])


def _events(url: str, catalog: Catalog, places: dict[str, str], stretches: Iterator[Any]) -> Iterator[Any]:
    for rows in _read(url, stretches):
        batch, problems = read_payloads(
            rows.column("payload").to_pylist(), rows.column("position"), rows.column("accepted"), catalog
        )
        valid = np.searchsorted(rows.column("position").to_numpy(), batch.positions.to_numpy())
        fixed = rows.select(["position", "accepted", "payload"]).take(pa.array(valid))
        columns = {name: fixed.column(name) for name in fixed.schema.names}
        columns["problem"] = pa.nulls(len(batch), pa.string())
        columns |= {place: _plain(batch, name) for name, place in places.items()}
        yield pa.RecordBatch.from_pydict(columns)
        if problems:
            yield pa.RecordBatch.from_pylist(problems, schema=pa.schema([(n, c.type) for n, c in columns.items()]))


def _matched(url: str, filter: Filter, batches: Iterator[Any]) -> Iterator[Any]:
    with Store.open(url) as store:
        matcher = single(filter, store)
    for rows in batches:
        read = rows.filter(rows.column("problem").is_null())
        yield chosen(matcher, read)
        yield rows.filter(rows.column("problem").is_valid())


def _notified(url: str, plan: Path, stretches: Iterator[Any]) -> Iterator[Any]:
    matcher = opened(plan)
    for rows in _read(url, stretches):
        yield notified(matcher, rows)


def _names(node: Node) -> tuple[str, ...]:
    """Everything that a filter tests."""
    match node:
        case And(terms) | Or(terms):
            return tuple(dict.fromkeys(name for term in terms for name in _names(term)))
        case Not(term):
            return _names(term)
        case _:
            return attributes_of(node)


def _types(name: str, catalog: Catalog) -> tuple[Any, str]:
    """The type of a name's column, for Arrow and for Spark."""
    domain = catalog.domain_of(name)
    assert domain is not None
    arrow, spark = _ELEMENTS.get(domain.kind, (pa.string(), "string"))
    return (pa.list_(arrow), f"array<{spark}>") if catalog.may_be_multiple(name) else (arrow, spark)


def _plain(batch: EventBatch, name: str) -> Any:
    """A column of the batch without dictionaries, in lists where the attribute may have several values."""
    type_, _ = _types(name, batch.catalog)
    column = column_of(batch, name)
    if column is None:
        return pa.nulls(len(batch), type_)
    if name == EVENT_TYPE:
        domain = batch.catalog.domain_of(EVENT_TYPE)
        assert domain is not None
        column = with_words(column, domain, vocabulary(domain))
    return (as_lists(column) if pa.types.is_list(type_) else column).cast(type_)
