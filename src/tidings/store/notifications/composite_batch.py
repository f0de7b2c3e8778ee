"""What the composites' query made of some positions, as its tasks write it and its sink stores it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from tidings.schema.values import Value
from tidings.store.journal.entries import Constituent
from tidings.store.notifications.commits import CHUNK
from tidings.store.notifications.crowded import Crowded
from tidings.store.notifications.known_places import KnownPlaces
from tidings.store.notifications.notification_id import detection_id
from tidings.store.notifications.quotas import A_MINUTE
from tidings.store.notifications.waiting import State

# The order of detections follows from the journal, wherever batches are cut: `position` is where each became known.
ORDER = ("position", "subscription", "time", "id")
DETECTED = pa.schema(
    [*CHUNK, ("time", pa.int64()), ("id", pa.string()), ("span", pa.int64()), ("body", pa.binary())]
)  # fmt: skip
_Body = tuple[list[Any], list[Constituent], str]
body_of = msgspec.msgpack.Decoder(_Body).decode


class Detected(NamedTuple):
    """What a composite found: `span` is where its subscription began to count, `time` the last time of the instance in
    microseconds. It is known where the journal's watermark reaches `mark`. Of a partial match that expired, `awaited`
    is the number of the part that it waited for, and `expired` its text."""

    subscription: str
    owner: str
    span: int
    key: tuple[Value, ...]
    events: tuple[Constituent, ...]
    time: int
    mark: int = 0
    awaited: int = -1
    expired: str = ""

    @property
    def id(self) -> str:
        events = [(one.source, one.id) for one in self.events]
        return detection_id(self.subscription, self.key, events, self.time, self.awaited)


class Early(NamedTuple):
    """`span`: in which of the spans of `EARLY` microseconds the events happened."""

    shard: int
    span: int
    body: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Of what composites wait for: `states` replace those of the same keys, `added` are of keys that had none, `gone`
    are no more, `early` are matches that wait for their time."""

    states: Sequence[State] = ()
    added: Sequence[State] = ()
    gone: Sequence[str] = ()
    early: Sequence[Early] = ()


@dataclass(frozen=True, slots=True)
class CompositeBatch:
    """What the composites' query made of the positions [first, last]. `changes` are read once, while it is stored; they
    replace all early matches up to the span of the frontier. `closed` are the spans that ended, `late` pairs of a
    position and by how much it was late, `crowded` the composites for which there was no room. `lateness`, in
    microseconds, says where a detection is known."""

    first: int
    last: int
    frontier: int | None
    changes: Iterable[Changes] = ()
    closed: Sequence[int] = ()
    late: Sequence[tuple[int, int]] = ()
    crowded: Sequence[Crowded] = ()
    batch_limit: int | None = None
    lateness: int = 0


def detected_rows(found: Sequence[Detected], places: KnownPlaces) -> Any:
    """A record batch of `DETECTED`, in its order, each detection once."""
    rows = {
        id: {
            "position": place.position,
            "subscription": one.subscription,
            "owner": one.owner,
            "minute": place.accepted // A_MINUTE,
            "dropped": 0,
            "time": one.time,
            "id": id,
            "span": one.span,
            "body": msgspec.msgpack.encode((one.key, one.events, one.expired)),
        }
        for one, place in zip(found, places.places(found), strict=True)
        for id in [one.id]
    }
    ordered = sorted(rows.values(), key=lambda row: tuple(row[name] for name in ORDER))
    return pa.RecordBatch.from_pylist(ordered, schema=DETECTED)
