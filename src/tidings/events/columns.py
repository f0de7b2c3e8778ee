"""Raw columns in, an `EventBatch` of the valid rows out: the fast path of all files.

Every check runs on whole columns, and only says which rows are *doubted*. Each doubted row is built as a
raw event and given to `validate`: it names the broken rules, or accepts the row after all, which then is
put back into its place. So a check here may doubt too much but never too little, and the bulk path accepts
exactly what `validate` accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.events import arrays
from tidings.events.batch import EventBatch, vocabulary
from tidings.events.elements import RawColumn, cells, elements, flattened, is_bound
from tidings.events.refusal import RefusedEvent
from tidings.events.validation import FARTHEST_AHEAD, LONGEST_ID, MOST_VALUES, validate
from tidings.schema import Catalog, Domain, Instant, Kind, View
from tidings.schema.catalog import ENVELOPE, EVENT_TYPE


@dataclass(frozen=True)
class RawColumns:
    """A chunk of raw events by column.

    `envelope` has the columns id, source, time, contact and event_type as far as there are any;
    `attributes` only names of the catalog; `row` gives one raw event for `validate`; `doubted` are rows
    that the reader itself has doubts about.
    """

    length: int
    envelope: dict[str, RawColumn]
    attributes: dict[str, RawColumn]
    row: Callable[[int], object]
    doubted: Iterable[int] = ()


@dataclass(frozen=True)
class Sifted:
    """The valid events in order, the row each came from, and the rows that were refused."""

    batch: EventBatch
    rows: Any
    refused: list[tuple[int, RefusedEvent]] = field(default_factory=list)


@dataclass(frozen=True)
class _Column:
    """Stored values per row, and which rows have more than one (None: no row has)."""

    stored: Any
    several: Any = None


class Sieve:
    """Sifts chunks of raw columns under one catalog; `accepted` and `most_values` as in `validate`."""

    def __init__(
        self, catalog: Catalog, accepted: Instant | None = None, most_values: int | None = MOST_VALUES
    ) -> None:
        self._catalog = catalog
        self._most_values = most_values
        self._accepted = accepted
        self._vocabularies: dict[str, Any] = {}  # by domain: made once, not per chunk

    def sift(self, raw: RawColumns) -> Sifted:
        doubted = pa.repeat(False, raw.length).to_numpy(zero_copy_only=False)
        for row in raw.doubted:
            doubted[row] = True
        ids, sources, times, contacts = self._envelope(raw, doubted)
        types = self._column(raw.envelope.get(EVENT_TYPE), self._domain(EVENT_TYPE), raw.length, doubted)
        doubted |= _mask(types.stored.is_null())
        views, view_of_row = self._views(types)
        columns = {}
        for name, values in raw.attributes.items():
            column = self._column(values, self._domain(name), raw.length, doubted)
            _test_uses(name, column, views, view_of_row, doubted)
            if column.stored.null_count < raw.length:
                columns[name] = column.stored
        for name in {name for view in views for name in view.mandatory} - raw.attributes.keys():
            _test_uses(name, _Column(pa.nulls(raw.length)), views, view_of_row, doubted)
        with_words = {name: self._with_words(name, stored) for name, stored in columns.items()}
        rows = pc.subtract(pc.cumulative_sum(pa.repeat(1, raw.length)), 1)
        type_lists = arrays.as_lists(types.stored)
        batch = EventBatch(self._catalog, ids, sources, times, contacts, pc.add(rows, 1), type_lists, with_words)
        return self._decide(raw, batch, rows, doubted) if doubted.any() else Sifted(batch, rows)

    def _decide(self, raw: RawColumns, batch: EventBatch, rows: Any, doubted: Any) -> Sifted:
        """What `validate` says of each doubted row."""
        accepted, refused = [], []
        for row in doubted.nonzero()[0].tolist():
            try:
                accepted.append(
                    (row, validate(raw.row(row), self._catalog, self._accepted, most_values=self._most_values))
                )
            except RefusedEvent as refusal:
                refused.append((row, refusal))
        evident = pa.array(~doubted)
        batch, rows = batch.filter(evident), rows.filter(evident)
        if accepted:
            rescued = EventBatch.of((event for _, event in accepted), self._catalog)
            rows = pa.concat_arrays([rows, pa.array([row for row, _ in accepted], pa.int64())])
            order = pc.sort_indices(rows)
            batch, rows = EventBatch.concat([batch, rescued]).take(order), rows.take(order)
        return Sifted(batch.at(1), rows, refused)

    def _envelope(self, raw: RawColumns, doubted: Any) -> tuple[Any, Any, Any, Any]:
        text, missing = ENVELOPE["event.source"], pa.nulls(raw.length, pa.string())
        made = {}
        for name, domain in (
            ("id", text),
            ("source", text),
            ("time", ENVELOPE["event.time"]),
            ("contact", text),
        ):
            values = raw.envelope.get(name)
            made[name] = missing if values is None else elements(values, domain, None)
            if values is not None and made[name].null_count:
                doubted |= _mask(pc.and_(is_bound(values), made[name].is_null()))
        lengths = pc.fill_null(pc.utf8_length(made["id"]), 0)
        doubted |= _mask(pc.or_(pc.equal(lengths, 0), pc.greater(lengths, LONGEST_ID)))
        times = made["time"].cast(arrays.INSTANTS)
        if self._accepted is not None:
            ahead = pc.greater(times.cast(pa.int64()), self._accepted + FARTHEST_AHEAD)
            doubted |= _mask(pc.fill_null(ahead, False))
        return made["id"], pc.fill_null(made["source"], ""), times, made["contact"]

    def _column(self, raw: RawColumn | None, domain: Domain, length: int, doubted: Any) -> _Column:
        """The stored values of each row, equal ones once; rows with something odd become doubted."""
        if raw is None:
            return _Column(pa.nulls(length, arrays.stored_type(domain)))
        raw = cells(raw, domain)
        listed = list in set(map(type, raw)) if isinstance(raw, list) else arrays.is_list(raw)
        if not listed:
            stored = self._elements(raw, domain)
            if stored.null_count:
                doubted |= _mask(pc.and_(is_bound(raw), stored.is_null()))
            return _Column(stored)
        flat_raw, lengths, empty = flattened(raw)
        doubted |= _mask(empty)
        flat = self._elements(flat_raw, domain)
        rows = pc.subtract(pc.cumulative_sum(pa.repeat(1, length)), 1).to_numpy()
        parents = rows.repeat(lengths.to_numpy())
        if flat.null_count:
            doubted[parents[_mask(flat.is_null())]] = True
        flat, lengths = _each_once(flat, lengths, parents, rows)
        longest = pc.max(lengths).as_py() or 0
        if longest <= 1:
            return _Column(arrays.spread(flat, lengths))
        if self._most_values is not None and longest > self._most_values:
            doubted |= _mask(pc.greater(lengths, self._most_values))
        stored = arrays.lists(flat, lengths, pc.equal(lengths, 0))
        return _Column(stored, _mask(pc.greater(lengths, 1)))

    def _elements(self, raw: RawColumn, domain: Domain) -> Any:
        """As `elements` has them; only `validate` can tell whether a document is valid."""
        if domain.kind is Kind.DOCUMENT:
            return pa.nulls(len(raw), arrays.stored_type(domain))
        return elements(raw, domain, self._vocabulary(domain))

    def _views(self, types: _Column) -> tuple[list[View], Any]:
        """The different views of the rows, and the number of each row's (null where it has no known type)."""
        names = self._catalog.event_type_names
        if types.several is None:
            found = types.stored.dictionary_encode()
            return [self._catalog.view((names[i],)) for i in found.dictionary.to_pylist()], found.indices
        numbers: dict[frozenset[int], int] = {}
        view_of_row = []
        for ordinals in types.stored.to_pylist():
            key = frozenset(ordinals or ()) - {None}
            view_of_row.append(numbers.setdefault(key, len(numbers)))
        views = [self._catalog.view(names[i] for i in key) for key in numbers]
        return views, pa.array(view_of_row, pa.int32())

    def _domain(self, name: str) -> Domain:
        domain = self._catalog.domain_of(name)
        assert domain is not None, name
        return domain

    def _vocabulary(self, domain: Domain) -> Any:
        if domain.name not in self._vocabularies:
            self._vocabularies[domain.name] = vocabulary(domain)
        return self._vocabularies[domain.name]

    def _with_words(self, name: str, stored: Any) -> Any:
        domain = self._domain(name)
        return arrays.with_words(stored, domain, self._vocabulary(domain))


def _test_uses(name: str, column: _Column, views: list[View], view_of_row: Any, doubted: Any) -> None:
    """Doubts rows that break a rule of their view for this attribute."""
    uses = [view.uses.get(name) for view in views]
    stored = column.stored
    missing, outside = [use is not None and use.mandatory for use in uses], [use is None for use in uses]
    if stored.null_count and any(missing):
        _doubt(stored.is_null(), missing, view_of_row, doubted)
    if stored.null_count < len(stored) and any(outside):
        _doubt(stored.is_valid(), outside, view_of_row, doubted)
    if column.several is not None:
        unique = [use is not None and use.unique for use in uses]
        _doubt(pa.array(column.several), unique, view_of_row, doubted)


def _doubt(rows: Any, in_views: list[bool], view_of_row: Any, doubted: Any) -> None:
    """Doubts those of the rows that have one of the views."""
    if not all(in_views):
        rows = pc.and_(rows, pc.fill_null(pa.array(in_views).take(view_of_row), True))
    doubted |= _mask(rows)


def _each_once(flat: Any, lengths: Any, parents: Any, rows: Any) -> tuple[Any, Any]:
    """Without the second of two equal values in a row; the order of the first ones stays."""
    if len(flat) == 0:
        return flat, lengths
    encoded = pc.dictionary_encode(flat, null_encoding="encode")
    size = len(encoded.dictionary)
    keys = pc.add(parents * size, encoded.indices.cast(pa.int64()))
    different = keys.unique().to_numpy()  # in order of first appearance
    if len(different) == len(keys):
        return flat, lengths
    parents = different // size
    counts = parents.searchsorted(rows, side="right") - parents.searchsorted(rows)
    return encoded.dictionary.take(pa.array(different % size)), pa.array(counts, pa.int64())


def _mask(array: Any) -> Any:
    return array.to_numpy(zero_copy_only=False)
