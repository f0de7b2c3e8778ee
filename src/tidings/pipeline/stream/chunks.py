"""Matches as tasks stage them and the sink stores them: chunks in the order of position and subscription, and how
those of several shards are merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidings.events import EventBatch
from tidings.matching.algorithm import Matches
from tidings.matching.ragged import owners
from tidings.matching.spans import Spans
from tidings.pipeline.spark.worker_cache import OpenedPlan
from tidings.pipeline.stream.quota_cut import LeftOut, QuotaCut
from tidings.store.notifications.commits import CHUNK
from tidings.store.notifications.row_order import count_upto

_ORDER = ("position", "subscription")
_PAIR = pa.schema([CHUNK.field("position"), CHUNK.field("subscription")])
Rows = npt.NDArray[np.int64]


def chunk_of(batch: EventBatch, minutes: Rows, matches: Matches, plan: OpenedPlan, cut: QuotaCut) -> Any:
    """A record batch of `CHUNK`, without the columns about owners where the plan has none."""
    numbers, events = matches.numbers, owners(matches.offsets)
    left: list[LeftOut] = []
    if plan.owned:
        keep, left = cut.cut(matches, plan.owners[numbers], plan.names, minutes)
        if keep is not None:
            numbers, events = numbers[keep], events[keep]
    events, ordered, subscriptions = _sorted(events, numbers, plan.matcher.spans)
    positions = batch.positions.to_numpy()
    if not plan.owned:
        return pa.RecordBatch.from_arrays([pa.array(positions[events]), subscriptions], schema=_PAIR)
    columns = [
        pa.array(positions[events]),
        subscriptions,
        plan.named.take(pa.array(plan.owners[ordered])),
        pa.array(minutes[events]),
        pa.array(np.zeros(len(events), np.int64)),
    ]
    chunk = pa.RecordBatch.from_arrays(columns, schema=CHUNK)
    return _with_left_out(chunk, left, positions, minutes) if left else chunk


def _sorted(events: Rows, numbers: Any, spans: Spans) -> tuple[Rows, Any, Any]:
    """By event and then by the subscription's id: events, numbers, ids. Each id is read and compared once."""
    if len(numbers) * 8 > len(spans):
        seen = np.zeros(len(spans), np.bool_)
        seen[numbers] = True
        used = np.flatnonzero(seen).astype(np.int32)
    else:
        used = np.unique(numbers)
    ids = spans.ids_of(used)
    order = pc.sort_indices(ids)
    by_id = used[order.to_numpy()]
    ranks = np.empty(len(used), np.int64)
    ranks[order.to_numpy()] = np.arange(len(used))
    keys = np.sort(events * len(used) + ranks[np.searchsorted(used, numbers)])
    events, places = np.divmod(keys, max(len(used), 1))
    return events, by_id[places], ids.take(order).take(pa.array(places))


def _with_left_out(chunk: Any, left: list[LeftOut], positions: Rows, minutes: Rows) -> Any:
    """What is only counted comes first among the rows of its position."""
    rows = [
        {
            "position": int(positions[one.event]),
            "subscription": "",
            "owner": one.owner,
            "minute": int(minutes[one.event]),
            "dropped": one.matches,
        }
        for one in left
    ]
    both = pa.Table.from_batches([pa.RecordBatch.from_pylist(rows, schema=CHUNK), chunk]).combine_chunks()
    order = np.argsort(both.column("position").to_numpy(), kind="stable")
    (made,) = both.take(pa.array(order)).combine_chunks().to_batches()
    return made


def merged(runs: Sequence[Iterator[Any]], order: Sequence[str] = _ORDER) -> Iterator[Any]:
    """The chunks of several runs, each in the order of these columns, in one order."""
    if len(runs) == 1:
        yield from runs[0]
        return
    heads: list[tuple[Any, Iterator[Any]]] = [(chunk, run) for run in runs if (chunk := next(run, None)) is not None]
    while heads:
        key = min((_last(chunk, order) for chunk, _ in heads), key=lambda key: tuple(key.values()))
        ready, rest = [], []
        for chunk, run in heads:
            count = count_upto(chunk, key)
            ready.append(chunk.slice(0, count))
            left = chunk.slice(count) if count < len(chunk) else next(run, None)
            if left is not None:
                rest.append((left, run))
        heads = rest
        both = pa.Table.from_batches(ready)
        ascending = [(name, "ascending") for name in order]
        yield from both.take(pc.sort_indices(both, ascending)).combine_chunks().to_batches()


def _last(chunk: Any, order: Sequence[str]) -> dict[str, Any]:
    return {name: chunk.column(name)[-1].as_py() for name in order}
