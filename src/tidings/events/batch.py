"""Many valid events as Arrow columns: what the readers make, the matchers take and Spark carries.

A row is an event; `columns` has one array per attribute that some event binds, null where it is not bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from tidings.errors import EventError, WrongArgument, expect, suggestion, typed
from tidings.events import arrays
from tidings.events.arrays import INSTANTS, ORDINALS
from tidings.events.event import POSITION, Bindings, Event
from tidings.events.validation import validate, write_event
from tidings.schema import Catalog, Domain, Instant
from tidings.schema.catalog import EVENT_TYPE

_ATTRIBUTE = "attribute."  # before an attribute's name in the Arrow form, so that none can be taken for the envelope
_ENVELOPE = {
    "id": pa.string(),
    "source": pa.string(),
    "time": INSTANTS,
    "contact": pa.string(),
    "position": pa.int64(),
    EVENT_TYPE: pa.list_(ORDINALS),
}
_ACCEPTED = "accepted"
_VERSION = b"tidings.schema_version"


class ForeignTable(EventError):
    """A table that `EventBatch.to_arrow` did not make: the columns it lacks, and what it is."""

    def __init__(self, missing: tuple[str, ...], what: str) -> None:
        super().__init__(missing, what)

    def __str__(self) -> str:
        missing, what = self.args
        columns = f"column {missing[0]!r}" if len(missing) == 1 else f"columns {', '.join(map(repr, missing))}"
        advice = "EventBatch.from_arrow reads the output of to_arrow; pass any other frame to Matcher.match"
        return f"the {what} lacks the {columns}: {advice}"


class ForeignAttribute(EventError):
    """A batch has an attribute that the catalog does not have."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(name, known)

    def __str__(self) -> str:
        name, known = self.args
        return f"the schema has no attribute {name!r}{suggestion(name, known)}"


class OtherSchema(EventError):
    """A batch was written under another schema than the one it is read by."""

    def __init__(self, written: int, given: int) -> None:
        super().__init__(written, given)

    def __str__(self) -> str:
        return "the batch was written under version {} of the schema; read it with that version, not {}".format(
            *self.args
        )


@dataclass(frozen=True, eq=False)
class EventBatch:
    """Valid events under one catalog.

    `event_types` holds lists of ordinals in `catalog.event_type_names`. An attribute's column is plain
    while no row has several values, else it holds lists (and a part cut from it stays so). Elements are
    float64, UTC microseconds, strings, or for enumerated and hierarchical domains dictionary entries whose
    index is the value's ordinal.
    """

    catalog: Catalog
    ids: Any
    sources: Any
    times: Any
    contacts: Any
    positions: Any
    event_types: Any
    columns: dict[str, Any]
    accepted: Any = None  # by a journal, in microseconds

    @property
    def now(self) -> Any:
        """What `now` means to each event, in microseconds: when it was accepted, outside a journal its own time."""
        return self.times.cast(pa.int64()) if self.accepted is None else self.accepted

    def bindings(self, row: int) -> Bindings:
        """Everything a filter may test of one event."""
        now = self.now[row].as_py()
        bound = self.event(row).bindings(None if now is None else Instant(now))
        if self.catalog.statistics:  # nothing else depends on the position
            bound[POSITION] = (self.positions[row].as_py(),)
        return bound

    @classmethod
    def of(cls, events: Iterable[Event], catalog: Catalog, positions: Sequence[int] | int | None = None) -> EventBatch:
        """A batch of events valid under the catalog. `positions`: each one's, or the first one's.

        Raises RefusedEvent where an event cannot be held, so was never valid under this catalog."""
        expect(catalog, Catalog, "EventBatch.of", "catalog", "a tidings.Schema")
        rows = _events(events)
        try:
            return cls._of(rows, catalog, positions)
        except (EventError, KeyError, TypeError, ValueError):
            for event in rows:
                validate(write_event(event), catalog)  # says which event and why
            raise

    @classmethod
    def _of(cls, rows: list[Event], catalog: Catalog, positions: Sequence[int] | int | None) -> EventBatch:
        kinds = _event_types(catalog)
        bound = [dict(event.attributes) for event in rows]
        columns = {}
        for name in dict.fromkeys(name for attributes in bound for name in attributes):
            domain = _domain(catalog, name)
            stored = arrays.array_of([attributes.get(name) for attributes in bound], domain)
            columns[name] = arrays.with_words(stored, domain, vocabulary(domain))
        times = [None if event.time is None else int(event.time) for event in rows]
        types = [[kinds.ordinal(name) for name in event.event_types] for event in rows]
        return cls(
            catalog,
            pa.array([event.id for event in rows], pa.string()),
            pa.array([event.source for event in rows], pa.string()),
            pa.array(times, pa.int64()).cast(INSTANTS),
            pa.array([event.contact for event in rows], pa.string()),
            _positions(positions, len(rows)),
            pa.array(types, pa.list_(ORDINALS)),
            columns,
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        bound = f" with {', '.join(sorted(self.columns))}" if self.columns else ""
        return f"<EventBatch of {len(self):,} events{bound}>"

    def __iter__(self) -> Iterator[Event]:
        names = self.catalog.event_type_names
        ordered = sorted(self.columns)
        values = [arrays.values_of(self.columns[name], _domain(self.catalog, name)) for name in ordered]
        envelope = zip(
            self.ids.to_pylist(),
            self.event_types.to_pylist(),
            self.sources.to_pylist(),
            self.times.cast(pa.int64()).to_pylist(),
            self.contacts.to_pylist(),
            strict=True,
        )
        for row, (id, types, source, time, contact) in enumerate(envelope):
            bound = ((name, column[row]) for name, column in zip(ordered, values, strict=True))
            yield Event(
                id,
                tuple(names[ordinal] for ordinal in types),
                tuple((name, found) for name, found in bound if found is not None),
                source,
                None if time is None else Instant(time),
                contact,
            )

    def event(self, row: int) -> Event:
        """One event; who wants many iterates."""
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of a batch of {len(self)} events")
        return next(iter(self.slice(row, row + 1)))

    def slice(self, start: int, stop: int | None = None) -> EventBatch:
        """The rows [start, stop), without copying."""
        length = len(self) - start if stop is None else stop - start
        return self._each(lambda array: array.slice(start, max(length, 0)))

    def take(self, indices: Any) -> EventBatch:
        """These rows in this order, from a sequence, numpy or Arrow array of row numbers."""
        chosen = indices if isinstance(indices, pa.Array) else pa.array(indices, pa.int64())
        return self._each(lambda array: array.take(chosen))

    def filter(self, mask: Any) -> EventBatch:
        """The rows where the Boolean array is true."""
        chosen = mask if isinstance(mask, pa.Array) else pa.array(mask, pa.bool_())
        return self._each(lambda array: array.filter(chosen))

    def at(self, positions: Sequence[int] | int) -> EventBatch:
        """The same events at these journal positions, or from this one on."""
        return replace(self, positions=_positions(positions, len(self)))

    @classmethod
    def concat(cls, batches: Sequence[EventBatch]) -> EventBatch:
        """One batch after another, all under one catalog; positions stay."""
        first = batches[0]
        if len(batches) == 1:
            return first
        for batch in batches:
            if batch.catalog is not first.catalog and batch.catalog != first.catalog:
                raise OtherSchema(batch.catalog.version, first.catalog.version)
        lengths = [len(batch) for batch in batches]
        columns = {}
        for name in dict.fromkeys(name for batch in batches for name in batch.columns):
            domain = _domain(first.catalog, name)
            parts = [arrays.as_stored(b.columns[name]) if name in b.columns else None for b in batches]
            stored = arrays.joined(parts, lengths, arrays.stored_type(domain))
            columns[name] = arrays.with_words(stored, domain, vocabulary(domain))
        envelope = [pa.concat_arrays(list(parts)) for parts in zip(*(b._envelope() for b in batches), strict=True)]
        known = any(batch.accepted is not None for batch in batches)
        accepted = pa.concat_arrays([batch.now for batch in batches]) if known else None
        return cls._from_parts(first.catalog, envelope, columns, accepted)

    def to_arrow(self) -> Any:
        """A RecordBatch of plain types only (Spark knows no dictionaries), ordinals in place of words.

        The schema's version goes along as metadata: ordinals mean nothing under another one.
        """
        stored = [arrays.as_stored(column) for column in self.columns.values()]
        made = pa.RecordBatch.from_arrays(
            [*self._envelope(), *stored], [*_ENVELOPE, *(_ATTRIBUTE + name for name in self.columns)]
        )
        if self.accepted is not None:
            made = made.append_column(_ACCEPTED, self.accepted)
        return made.replace_schema_metadata({_VERSION: str(self.catalog.version).encode()})

    @classmethod
    def from_arrow(cls, table: Any, catalog: Catalog) -> EventBatch:
        """From what `to_arrow` made; the version is checked where the metadata survived the way."""
        expect(table, (pa.Table, pa.RecordBatch), "EventBatch.from_arrow", "table", "a pyarrow Table or RecordBatch")
        expect(catalog, Catalog, "EventBatch.from_arrow", "catalog", "a tidings.Schema")
        if missing := tuple(name for name in _ENVELOPE if name not in table.schema.names):
            raise ForeignTable(missing, type(table).__name__)
        version = (table.schema.metadata or {}).get(_VERSION)
        if version is not None and int(version) != catalog.version:
            raise OtherSchema(int(version), catalog.version)
        parts = {name: _whole(table.column(name)) for name in table.schema.names}
        columns = {}
        for name, stored in parts.items():
            if name.startswith(_ATTRIBUTE):
                domain = _domain(catalog, name.removeprefix(_ATTRIBUTE))
                element = arrays.stored_type(domain)
                stored = stored.cast(pa.list_(element) if arrays.is_list(stored) else element)
                columns[name.removeprefix(_ATTRIBUTE)] = arrays.with_words(stored, domain, vocabulary(domain))
        envelope = (parts[name].cast(type_) for name, type_ in _ENVELOPE.items())
        return cls._from_parts(catalog, list(envelope), columns, parts.get(_ACCEPTED))

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled Arrow array would drag the vocabulary and, if sliced, the whole buffer along.
        sink = pa.BufferOutputStream()
        arrow = self.to_arrow()
        with pa.ipc.new_stream(sink, arrow.schema) as writer:
            writer.write_batch(arrow)
        return _unpickled, (sink.getvalue().to_pybytes(), self.catalog)

    @classmethod
    def _from_parts(
        cls, catalog: Catalog, envelope: Sequence[Any], columns: dict[str, Any], accepted: Any = None
    ) -> EventBatch:
        ids, sources, times, contacts, positions, event_types = envelope
        return cls(catalog, ids, sources, times, contacts, positions, event_types, columns, accepted)

    def _envelope(self) -> tuple[Any, ...]:
        return self.ids, self.sources, self.times, self.contacts, self.positions, self.event_types

    def _each(self, change: Any) -> EventBatch:
        columns = {name: change(column) for name, column in self.columns.items()}
        accepted = None if self.accepted is None else change(self.accepted)
        return self._from_parts(self.catalog, [change(part) for part in self._envelope()], columns, accepted)


def vocabulary(domain: Domain) -> Any:
    """The words of an enumerated or hierarchical domain by ordinal; None for domains that list none."""
    return pa.array(domain.vocabulary, pa.string()) if arrays.has_ordinals(domain) else None


def _unpickled(stream: bytes, catalog: Catalog) -> EventBatch:
    return EventBatch.from_arrow(pa.ipc.open_stream(stream).read_all(), catalog)


def _whole(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _domain(catalog: Catalog, name: str) -> Domain:
    domain = catalog.domain_of(name)
    if domain is None:
        raise ForeignAttribute(name, tuple(attribute.name for attribute in catalog.attributes))
    return domain


def _events(events: Iterable[Event]) -> list[Event]:
    call, expected = "EventBatch.of", "Events, which tidings.validate makes of dicts (Matcher.match takes dicts too)"
    if not isinstance(events, Iterable) or isinstance(events, Event | str | Mapping):
        raise WrongArgument(call, "events", f"an iterable of {expected}", typed(events))
    rows = list(events)
    for event in rows if set(map(type, rows)) - {Event} else ():
        expect(event, Event, call, "events", expected)
    return rows


def _event_types(catalog: Catalog) -> Domain:
    return _domain(catalog, EVENT_TYPE)


def _positions(positions: Sequence[int] | int | None, length: int) -> Any:
    if positions is None or isinstance(positions, int):
        first = 1 if positions is None else positions
        return pa.array(range(first, first + length), pa.int64())
    return positions if isinstance(positions, pa.Array) else pa.array(positions, pa.int64())
