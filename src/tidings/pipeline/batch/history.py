"""The journal replayed: which notifications follow from it.

Goes through the journal in order and gives record batches, here in this process or, with a session, on Spark, where
workers read stretches of the journal from the store themselves. Filters are read by the newest catalog: growth changes
neither what an event says nor what a filter asks of it. An event that cannot be read (the journal was damaged) is given
with the problem in place of an answer. `chosen` is what workers do for a query (`query`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.language import Filter, Subscription
from tidings.language.normal_form import NO_LIMIT
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.folder import save_plan
from tidings.pipeline.batch.query import STORED, with_problems
from tidings.pipeline.stream.payloads import read_payloads
from tidings.store import Store
from tidings.store.notifications.quotas import A_MINUTE, Quotas

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTIFIED = pa.schema(
    [
        ("position", pa.int64()),
        *((name, pa.string()) for name in ("event", "source", "subscription", "owner")),
        ("minute", pa.int64()),  # of the time of acceptance
        ("problem", pa.string()),
    ]
)


def replayed(store: Store, after: int, upto: int, spark: SparkSession | None = None) -> Iterator[Any]:
    """The notifications of the events at the positions (after, upto], by position and subscription, as batches of
    `NOTIFIED`. They follow from the journal alone: what was stored when it happened is not looked at."""
    matcher, quotas = spans_matcher(store, after, upto), RankedMatches(store.quotas())
    if spark is None:
        yield from map(quotas.within, map(partial(notified, matcher), store.event_rows(after, upto)))
        return
    from tidings.pipeline.batch.history_frames import notifications

    with TemporaryDirectory(prefix="tidings-") as folder:
        save_plan(matcher, Path(folder) / "plan")
        yield from map(quotas.within, notifications(spark, store, Path(folder) / "plan", after, upto))


def differences(store: Store, after: int, upto: int, replay: Iterable[Any]) -> tuple[Any, Any]:
    """What the journal gives and was not stored, and what was stored and the journal does not give: tables of
    position and subscription. `replay` is all that `replayed` gave for these positions."""
    names = ["position", "subscription"]
    given = pa.Table.from_batches(replay, NOTIFIED)
    given = given.filter(given.column("problem").is_null()).select(names)
    stored = store.notification_table(after).select(names)
    stored = stored.filter(pc.less_equal(stored.column("position"), upto))
    order = [(name, "ascending") for name in names]
    missing = given.join(stored, names, join_type="left anti").sort_by(order)
    return missing, stored.join(given, names, join_type="left anti").sort_by(order)


def single(filter: Filter, store: Store) -> BoxMatcher:
    """A matcher of one filter, for all positions."""
    matcher = BoxMatcher(store.catalog(), threads=1)
    matcher.add(Subscription("", filter))
    return matcher


def spans_matcher(store: Store, after: int, upto: int) -> BoxMatcher:
    """All subscriptions with a filter that count somewhere in (after, upto], each from its start to its stop."""
    catalog = store.catalog()
    matcher = BoxMatcher(catalog)
    for span in store.spans(after, composite=False):
        if span.start > upto:
            break
        filter = Filter.parse(span.filter, catalog, NO_LIMIT)
        matcher.add(Subscription(span.subscription, filter), span.start, span.owner)
        if span.stop is not None:
            matcher.withdraw(span.subscription, at=span.stop)
    return matcher


def chosen(matcher: BoxMatcher, rows: Any) -> Any:
    """Of rows of the journal those that the matcher's one filter matches."""
    batch, problems = read_payloads(
        rows.column("payload").to_pylist(), rows.column("position"), rows.column("accepted"), matcher.catalog
    )
    some = np.flatnonzero(np.diff(matcher.match(batch).offsets))
    places = np.searchsorted(rows.column("position").to_numpy(), batch.positions.to_numpy()[some])
    found = rows.select(["position", "accepted", "payload"]).take(pa.array(places))
    return with_problems(found.append_column("problem", pa.nulls(len(found), pa.string())), problems, STORED)


def notified(matcher: BoxMatcher, rows: Any) -> Any:
    """The notifications of rows of the journal, in order."""
    batch, problems = read_payloads(
        rows.column("payload").to_pylist(), rows.column("position"), rows.column("accepted"), matcher.catalog
    )
    matches = matcher.match(batch)
    events = pa.array(matches.events())
    columns = [part.take(events) for part in (batch.positions, batch.ids, batch.sources)]
    names, owners = matcher.spans.coded_owners()
    places = np.searchsorted(rows.column("position").to_numpy(), columns[0].to_numpy())
    minutes = rows.column("accepted").to_numpy()[places] // A_MINUTE
    columns += [
        matcher.spans.ids_of(matches.numbers),
        pa.array(names, pa.string()).take(pa.array(owners[matches.numbers])),
    ]
    columns += [pa.array(minutes, pa.int64()), pa.nulls(len(matches), pa.string())]
    found = pa.RecordBatch.from_arrays(columns, schema=NOTIFIED)
    order = [("position", "ascending"), ("subscription", "ascending")]
    return with_problems(found.take(pc.sort_indices(found, order)), problems, NOTIFIED)


class RankedMatches:
    """Drops what is beyond the quotas, from batches of `NOTIFIED` in order."""

    def __init__(self, quotas: Quotas) -> None:
        self._quotas = quotas
        self._minute = -1
        self._counts: Counter[str] = Counter()

    def within(self, batch: Any) -> Any:
        keep = [
            self._is_within(owner, minute, position)
            for owner, minute, position in zip(
                *(batch.column(name).to_pylist() for name in ("owner", "minute", "position")), strict=True
            )
        ]
        return batch if all(keep) else batch.filter(pa.array(keep))

    def _is_within(self, owner: str | None, minute: int, position: int) -> bool:
        if not owner:  # nobody's, or a problem
            return True
        if minute != self._minute:
            self._minute = minute
            self._counts.clear()
        self._counts[owner] += 1
        return self._counts[owner] <= self._quotas.at(owner, position)
