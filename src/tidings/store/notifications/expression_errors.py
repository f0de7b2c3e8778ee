"""On how many events an expression of another filter language ended in an error, by the span of its subscription. They
are counted where the events are committed: each event once, however batches were cut or repeated."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select, text

from tidings.store.tables import expression_errors

LONGEST_DETAIL = 200  # characters; the rest is cut off
_COUNT = text(
    "INSERT INTO expression_errors (span, events, position, detail) VALUES (:span, :events, :position, :detail) "
    "ON CONFLICT (span) DO UPDATE SET events = expression_errors.events + excluded.events, "
    "position = excluded.position, detail = excluded.detail"
)


class FailedEvent(NamedTuple):
    """The event at `position`, on which the subscription that counts from `span` on ended in an error."""

    position: int
    span: int
    detail: str


class ExpressionErrors(NamedTuple):
    """On how many events, and the last one: its position, and what went wrong."""

    events: int
    position: int
    detail: str


def count_errors(connection: Connection, failed: Sequence[FailedEvent], after: int, upto: int) -> None:
    """Those of the positions (after, upto]; `failed` is in order."""
    first, last = (bisect_right(failed, bound, key=lambda one: one.position) for bound in (after, upto))
    counts: dict[int, dict[str, object]] = {}
    for position, span, detail in failed[first:last]:
        events = counts[span]["events"] if span in counts else 0
        assert isinstance(events, int)
        counts[span] = {"span": span, "events": events + 1, "position": position, "detail": detail[:LONGEST_DETAIL]}
    if counts:
        connection.execute(_COUNT, [counts[span] for span in sorted(counts)])


def errors_of(connection: Connection, spans: Iterable[int]) -> dict[int, ExpressionErrors]:
    """By where a subscription began to count; only those that have some."""
    table = expression_errors
    rows = connection.execute(select(table).where(table.c.span.in_(list(spans))))
    return {row.span: ExpressionErrors(row.events, row.position, row.detail) for row in rows}
