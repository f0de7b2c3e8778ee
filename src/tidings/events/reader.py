"""Whatever a Python program has, in batches of valid events: a frame, dicts, Events, one of these alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import EventError, WrongArgument, suggestion, typed
from tidings.events.batch import EventBatch
from tidings.events.columns import RawColumns, Sieve
from tidings.events.event import Event
from tidings.events.files.json_lines import raw_columns as raw_records
from tidings.events.frames import Frame, WrongFrame, columns_of
from tidings.events.quick_look import GivenEvent, raw_event
from tidings.events.records import RecordForm, as_mapping
from tidings.events.refusal import BrokenRule, RefusedEvent
from tidings.events.validation import MOST_VALUES, validate
from tidings.schema import Catalog

_ROWS = 50_000  # of a frame that are read at once
_RECORDS = 10_000
_MOST_TOLD = 10
_EXPECTED = "a pandas or polars DataFrame, a pyarrow Table or RecordBatch, dicts, Events or an EventBatch"
_ADVICE = {
    "pyspark": "; for Spark there is tidings.spark.match",
    "LazyFrame": "; call .collect() on it first",
    "str": "; to match a file, read it with tidings.read_events",
    "Path": "; to match a file, read it with tidings.read_events",
}


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """An event that breaks rules: its row, counted from 0, its id, and every rule it breaks."""

    row: int
    id: str | None
    errors: tuple[BrokenRule, ...]

    def __str__(self) -> str:
        return f"row {self.row}: {RefusedEvent(self.id, self.errors)}"


class RefusedEvents(EventError):
    """Events among those given break rules. `refused` has their rows."""

    def __init__(self, refused: tuple[RefusedRow, ...]) -> None:
        super().__init__(refused)

    @property
    def refused(self) -> tuple[RefusedRow, ...]:
        return tuple(self.args[0])

    def __str__(self) -> str:
        lines = [str(one) for one in self.refused[:_MOST_TOLD]]
        if len(self.refused) > _MOST_TOLD:
            lines.append(f"and {len(self.refused) - _MOST_TOLD:,} more")
        return "\n".join([*lines, "on_error='skip' leaves such events out"])


@dataclass(frozen=True)
class Part:
    """Some of the events given: those that are valid, the row of each, and those that are refused."""

    batch: EventBatch
    rows: Any
    refused: list[RefusedRow]


class EventReader:
    """Reads events under one catalog."""

    def __init__(self, catalog: Catalog, most_values: int = MOST_VALUES) -> None:
        self._catalog, self._most_values = catalog, most_values
        self._sieve = Sieve(catalog, most_values=most_values)
        self._form = RecordForm(catalog, _event_type(None, catalog))

    def read(self, events: Any, event_type: str | Sequence[str] | None = None, ignore: bool = False) -> Iterator[Part]:
        """In parts of some thousand rows; raises WrongFrame or WrongArgument where the events as a whole are wrong.

        `event_type` is that of events that name none; with `ignore`, columns that the schema does not have are
        left out."""
        return self._parts(events, _event_type(event_type, self._catalog), ignore)

    def one(self, event: Any, event_type: str | Sequence[str] | None = None) -> GivenEvent:
        """A single event, also as JSON text, for `match_one`, which validates it if the limit is the usual one."""
        raw = raw_event(event)
        if isinstance(raw, Event):
            return raw
        form = self._form
        if event_type is not None:
            form = RecordForm(self._catalog, _event_type(event_type, self._catalog))
        written = form.raw(raw, 0)
        if self._most_values == MOST_VALUES:
            return written
        return validate(written, self._catalog, most_values=self._most_values)

    def _parts(self, events: Any, event_type: list[str] | None, ignore: bool, first: int = 0) -> Iterator[Part]:
        if isinstance(events, EventBatch):
            yield Part(events, pa.array(range(first, first + len(events)), pa.int64()), [])
            return
        columns = columns_of(events)
        if columns is None:
            yield from self._records(events, event_type, ignore, first)
            return
        frame = Frame(columns, self._catalog, event_type, ignore)
        for start in range(0, frame.length, _ROWS):
            yield self._sifted(frame.raw(start, min(_ROWS, frame.length - start), first), first + start)

    def _records(self, events: Any, event_type: list[str] | None, ignore: bool, first: int) -> Iterator[Part]:
        form = RecordForm(self._catalog, event_type, ignore)
        records = iter(records_of(events))
        row = first
        while chunk := list(islice(records, _RECORDS)):
            if isinstance(chunk[0], EventBatch) or columns_of(chunk[0]) is not None:  # batches, one after another
                for batch in chunk:
                    for part in self._parts(batch, event_type, ignore, row):
                        yield part
                        row += len(part.batch) + len(part.refused)
                continue
            raw = [form.raw(record, number) for number, record in enumerate(chunk, row)]
            yield self._sifted(raw_records(raw, self._catalog), row)
            row += len(chunk)

    def _sifted(self, raw: RawColumns, first: int) -> Part:
        sifted = self._sieve.sift(raw)
        refused = [RefusedRow(first + row, error.id, error.errors) for row, error in sifted.refused]
        return Part(sifted.batch, pc.add(sifted.rows, first), refused)


def records_of(events: Any, call: str = "match") -> Iterable[Any]:
    """The events one by one; a single one alone is one too. Raises WrongArgument."""
    if isinstance(events, Event) or as_mapping(events) is not None:
        return (events,)
    kinds = [kind.__name__ for kind in type(events).__mro__] + [type(events).__module__.partition(".")[0]]
    advice = next((_ADVICE[kind] for kind in kinds if kind in _ADVICE), "")
    if advice or isinstance(events, str | bytes) or not isinstance(events, Iterable):
        raise WrongArgument(call, "events", _EXPECTED, typed(events) + advice)
    return events


def _event_type(given: str | Sequence[str] | None, catalog: Catalog) -> list[str] | None:
    """The types of events that name none, None where they must name theirs."""
    if given is None:
        names = catalog.event_type_names
        return list(names) if len(names) == 1 else None
    wanted = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else []
    if not wanted or not all(isinstance(name, str) for name in wanted):
        raise WrongArgument("match", "event_type", "the name of an event type, or several", typed(given))
    for name in wanted:
        if catalog.event_type(name) is None:
            raise WrongFrame((f"event_type: no event type {name!r}{suggestion(name, catalog.event_type_names)}",))
    return wanted
