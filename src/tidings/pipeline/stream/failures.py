"""Events on which expressions of other filter languages ended in an error, on their way from the tasks to the sink."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tidings.events import EventBatch
from tidings.matching.algorithm import Matches
from tidings.matching.spans import Spans
from tidings.store.notifications.expression_errors import LONGEST_DETAIL, FailedEvent

_Packed = list[tuple[int, str, list[int]]]  # a span, what went wrong, and where
_packed = msgspec.msgpack.Decoder(_Packed).decode


def failed_events(batch: EventBatch, matches: Matches, spans: Spans) -> list[FailedEvent]:
    if not matches.failed:
        return []
    positions = batch.positions.to_numpy()
    return [
        FailedEvent(int(positions[one.event]), int(spans.start[one.number]), one.detail[:LONGEST_DETAIL])
        for one in matches.failed
    ]


def packed(failed: Iterable[FailedEvent]) -> bytes:
    """Each text once: a subscription that fails on every event mostly does so for one reason."""
    where: dict[tuple[int, str], list[int]] = {}
    for position, span, detail in failed:
        where.setdefault((span, detail), []).append(position)
    return msgspec.msgpack.encode([(*about, positions) for about, positions in where.items()])


def unpacked(bodies: Iterable[bytes], upto: int) -> list[FailedEvent]:
    """In order; only those up to a position."""
    return sorted(
        FailedEvent(position, span, detail)
        for body in bodies
        for span, detail, positions in _packed(body)
        for position in positions
        if position <= upto
    )
