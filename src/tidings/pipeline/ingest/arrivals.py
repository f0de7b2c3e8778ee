"""What has come in, as a worker of Spark's reads it: valid events with their places, and a letter for each refused one.

Folders and Kafka topics make chunks of raw events; here they are sifted. Ingest appends what comes out to the journal,
direct matching matches it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from tidings.events import BrokenRule, EventBatch, Sieve
from tidings.events.files.chunk import Chunk
from tidings.events.validation import MOST_VALUES
from tidings.schema import Catalog, Instant
from tidings.store import DeadLetter

LONGEST_RAW = 1_000_000  # characters of a refused event that are kept; no event that could be accepted is longer

Clock = Callable[[], Instant]


@dataclass(frozen=True)
class Arrived:
    """A chunk after sifting: its events, the place of each where it came from, and letters for the others."""

    origin: str
    batch: EventBatch
    places: Sequence[int]
    letters: list[DeadLetter] = field(default_factory=list)


def arrived(
    origin: str,
    chunk: Chunk,
    catalog: Catalog,
    clock: Clock | None,
    most_values: int = MOST_VALUES,
    sent: Callable[[int], str] | None = None,
) -> Arrived:
    """Sifts a chunk. With a clock, occurrence times long after the current time are refused, as the journal does;
    `most_values` as in `validate`.

    `sent` returns the text that was sent, by place; without it the raw event is written as JSON again."""
    sifted = Sieve(catalog, clock() if clock is not None else None, most_values).sift(chunk.columns)
    letters = []
    for one in chunk.refused:
        letters.append(DeadLetter(origin, str(one.line), one.id, sent(one.line) if sent else "", one.errors))
    for row, refusal in sifted.refused:
        place = chunk.lines[row]
        text = sent(place) if sent else written(chunk.columns.row(row))
        letters.append(DeadLetter(origin, str(place), refusal.id, text, refusal.errors))
    places = [chunk.lines[row] for row in sifted.rows.to_pylist()]
    return Arrived(origin, sifted.batch, places, letters)


def unreadable(origin: str, catalog: Catalog, problem: Exception) -> Arrived:
    """A file that cannot be read, or not to its end: no events, one letter of its own."""
    told = str(problem) if str(problem) else type(problem).__name__
    broken = BrokenRule("form", None, None, told)
    return Arrived(origin, EventBatch.of((), catalog), (), [DeadLetter(origin, "file", None, "", (broken,))])


def written(raw: object) -> str:
    """A raw event as JSON, as far as it can be written: it was refused, so it may be anything."""
    try:
        text = msgspec.json.encode(raw, enc_hook=str).decode()
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return ""
    return text[:LONGEST_RAW]
