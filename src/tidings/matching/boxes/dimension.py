"""An axis with its ordinals: maps keys to small integers, for filters and for events.

A *value* axis of numbers, times or strings is cut at every bound in some filter: ordinal i lies between cut i - 1 and
cut i, so a range is an interval of ordinals. *Member*, *word* and *term* axes list the keys that filters
test for; ordinal i + 1 is key i, and 0 is anything else. Enumerated values and categories keep their own ordinals.
Ordinals belong to one segment."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidings.events import EventBatch
from tidings.language.similarity import TOLERANCE, cosine, text_of_key
from tidings.language.words import words_of
from tidings.matching.boxes.box import WORD_ROLES, Axis
from tidings.matching.boxes.texts.terms import Known, finder
from tidings.matching.ragged import flattened, offsets_of, owners, taken
from tidings.schema.catalog import EVENT_TYPE, Catalog
from tidings.schema.domain import Kind

if TYPE_CHECKING:
    from tidings.matching.boxes.shared_paths import HeldPaths
    from tidings.matching.boxes.texts.batch_words import TextColumn
    from tidings.matching.boxes.texts.similar_texts import SimilarTexts
    from tidings.matching.boxes.texts.text_entries import Entries

OPEN = np.int32(2**31 - 1)  # greater than all ordinals: no upper bound
UNBOUND = np.int32(-1)
_ROLE_KINDS = {"ahead": Kind.TIME, "latitude": Kind.NUMERIC, "longitude": Kind.NUMERIC}  # as which keys are stored

Ordinals = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Dimension:
    """`keys` ascend: cuts of a value axis, the listed keys of a member or word axis, empty if ordinals are given."""

    axis: Axis
    kind: Kind  # as which the domain's values are stored
    keys: Any = field(default=())  # float64 or int64 array, or list of str
    only_points: bool = False  # a string axis tested only for equality can look values up

    @property
    def given(self) -> bool:
        """Whether the axis uses the domain's own ordinals."""
        return self.kind.listed and self.axis.role not in WORD_ROLES

    @classmethod
    def of(cls, axis: Axis, catalog: Catalog, keys: Sequence[Any], only_points: bool = False) -> Dimension:
        domain = catalog.domain_of(axis.attribute)
        assert domain is not None
        kind = _ROLE_KINDS.get(axis.role, domain.stored_as)
        if kind.listed and axis.role not in WORD_ROLES:
            return cls(axis, kind)
        if kind.wordy or axis.role in (*WORD_ROLES, "path", "similar") or kind in (Kind.PLACE, Kind.DOCUMENT):
            ordered = sorted(set(keys))
            points = only_points and axis.role == "value" and are_points(ordered)
            return cls(axis, kind, ordered, points)
        return cls(axis, kind, np.unique(np.array(keys, np.int64 if kind is Kind.TIME else np.float64)))

    def bounds(self, keys: Sequence[Any]) -> Ordinals:
        """The ordinals of keys at which the axis was cut."""
        if self.given:
            return np.array(keys, np.int32)
        if isinstance(self.keys, list):
            return np.array([bisect_right(self.keys, key) for key in keys], np.int32)
        return np.searchsorted(self.keys, np.array(keys, self.keys.dtype), side="right").astype(np.int32)

    def remapped(self, wider: Dimension) -> Ordinals:
        """Maps old ordinals to new ones, given that the wider dimension has all keys of this one."""
        if self.given:
            return np.zeros(0, np.int32)
        return np.concatenate([np.zeros(1, np.int32), wider.bounds(list(self.keys))])

    def encode(self, batch: EventBatch) -> tuple[npt.NDArray[np.int64] | None, Ordinals]:
        """The events' ordinals: one per row (-1: unbound), or any number per row, with offsets."""
        column = column_of(batch, self.axis.attribute)
        if column is None:
            return None, np.full(len(batch), UNBOUND)
        if pa.types.is_list(column.type):
            lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            offsets = offsets_of(lengths)
            flat = column.flatten()
        else:
            offsets, flat = None, column
        if self.axis.role in WORD_ROLES:
            if "numba" not in sys.modules:  # who evaluates one filter does not load it for a few words
                return self._plain_words(offsets, flat, batch.catalog)
            from tidings.matching.boxes.texts.batch_words import text_column
            from tidings.matching.boxes.texts.text_entries import entries_of

            cut = text_column(batch, self.axis.attribute, offsets, flat)
            return of_events(cut, entries_of(cut.cut, self, batch.catalog, False))
        if self.axis.role == "similar":
            if "numba" not in sys.modules:
                return self._plain_similar(batch, offsets, flat)
            from tidings.matching.boxes.texts.batch_words import text_column

            return self.similar_texts.found_in(batch, text_column(batch, self.axis.attribute, offsets, flat))
        if self.axis.role == "ahead":
            return self._ahead(batch, offsets, flat)
        if self.axis.role == "path":
            return self.held_paths.found_in(batch, self.axis.attribute, offsets, flat)
        return offsets, self.ordinals(flat)

    @cached_property
    def held_paths(self) -> HeldPaths:
        """Of a path axis: its keys in the index that all share."""
        from tidings.matching.boxes.shared_paths import SHARED_PATHS  # loads numba, which most filters do not need

        return SHARED_PATHS.hold(self, self.keys)

    @cached_property
    def similar_texts(self) -> SimilarTexts:
        """Of an axis of similarity: its keys as vectors."""
        from tidings.matching.boxes.texts.similar_texts import SimilarTexts

        return SimilarTexts(self.axis.attribute, self.keys)

    def _ahead(self, batch: EventBatch, offsets: Any, flat: Any) -> tuple[npt.NDArray[np.int64] | None, Ordinals]:
        if offsets is None:
            return None, self.ahead(batch, np.arange(len(batch)), flat)
        ordinals = self.ahead(batch, owners(offsets), flat)
        known = batch.now.is_valid().to_numpy(zero_copy_only=False)
        return offsets_of(np.where(known, np.diff(offsets), 0)), ordinals[ordinals >= 0]

    def ahead(self, batch: EventBatch, rows: npt.NDArray[np.int64], flat: Any) -> Ordinals:
        """The ordinal of each of the rows' times from now; none where there is no `now`."""
        now, known = batch.now.fill_null(0).to_numpy(), batch.now.is_valid().to_numpy(zero_copy_only=False)
        times = flat.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        bound = known[rows] & flat.is_valid().to_numpy(zero_copy_only=False)
        ordinals = np.searchsorted(self.keys, times - now[rows], side="right").astype(np.int32)
        return np.where(bound, ordinals, UNBOUND)

    def ordinals(self, flat: Any) -> Ordinals:
        """The ordinals of single values."""
        ordinals: Ordinals
        missing = None if flat.null_count == 0 else flat.is_null().to_numpy(zero_copy_only=False)
        if pa.types.is_dictionary(flat.type) or pa.types.is_integer(flat.type):
            codes = flat.indices if pa.types.is_dictionary(flat.type) else flat
            ordinals = codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        elif self.axis.role in ("latitude", "longitude"):
            degrees = degrees_of(flat)[:, 0 if self.axis.role == "latitude" else 1]
            ordinals = np.searchsorted(self.keys, degrees, side="right").astype(np.int32)
        elif isinstance(self.keys, list):
            ordinals = self._strings(flat)
        else:
            if self.kind is Kind.TIME:
                flat = flat.cast(pa.int64()).fill_null(0)
            values = flat.to_numpy(zero_copy_only=False)
            ordinals = np.searchsorted(self.keys, values, side="right").astype(np.int32)
            if self.axis.role == "member" and len(self.keys):
                known = self.keys[np.maximum(ordinals - 1, 0)] == values
                ordinals = np.where(known & (ordinals > 0), ordinals, 0).astype(np.int32)
        if missing is not None:
            ordinals[missing] = UNBOUND
        return ordinals

    def _strings(self, flat: Any) -> Ordinals:
        if self.axis.role == "member" or self.only_points:
            literals = self.keys if self.axis.role == "member" else self.keys[::2]
            if not literals:
                return np.zeros(len(flat), np.int32)
            places = pc.index_in(flat, value_set=pa.array(literals, pa.string())).fill_null(-1)
            found: Ordinals = places.to_numpy(zero_copy_only=False).astype(np.int32)
            return found + 1 if self.axis.role == "member" else np.where(found < 0, 0, 2 * found + 1).astype(np.int32)
        if not self.keys:  # it only counts whether there is a value
            return np.zeros(len(flat), np.int32)
        encoded = flat.dictionary_encode()
        words = encoded.dictionary.to_pylist()
        if self.axis.role == "backwards":
            words = [word[::-1] for word in words]
        table = np.array([bisect_right(self.keys, word) for word in words] + [0], np.int32)
        return np.asarray(table[encoded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)])

    def texts(self, batch: EventBatch) -> tuple[TextColumn, Entries] | None:
        """The texts of an axis of terms, with places; None if no event of the batch binds it."""
        from tidings.matching.boxes.texts.batch_words import text_column
        from tidings.matching.boxes.texts.text_entries import entries_of

        column = column_of(batch, self.axis.attribute)
        if column is None:
            return None
        offsets, flat = None, column
        if pa.types.is_list(column.type):
            lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            offsets, flat = offsets_of(lengths), column.flatten()
        cut = text_column(batch, self.axis.attribute, offsets, flat)
        return cut, entries_of(cut.cut, self, batch.catalog, True)

    def words(self, flat: Any, catalog: Catalog) -> tuple[npt.NDArray[np.int64], Ordinals]:
        """The known words of each value. A value without any still has the ordinal 0: the row is bound."""
        from tidings.matching.boxes.texts.batch_words import column_of_texts
        from tidings.matching.boxes.texts.text_entries import entries_of

        column = column_of_texts(None, flat)
        return of_events(column, entries_of(column.cut, self, catalog, False))

    def _plain_words(
        self, offsets: npt.NDArray[np.int64] | None, flat: Any, catalog: Catalog
    ) -> tuple[npt.NDArray[np.int64], Ordinals]:
        """As `encode`, without kernels."""
        find = finder(self, catalog)
        encoded = flat.dictionary_encode()  # values repeat: each distinct one is split into words once
        different = encoded.dictionary.to_pylist()
        words = [sorted({o for word in words_of(value) for o in find(word)}) or [0] for value in different]
        ends, ordinals = flattened([*words, []], np.int32)
        codes = encoded.indices.fill_null(len(different)).to_numpy(zero_copy_only=False)
        found, stops = taken(ends, codes)
        return stops if offsets is None else stops[offsets], ordinals[found]

    def _plain_similar(
        self, batch: EventBatch, offsets: npt.NDArray[np.int64] | None, flat: Any
    ) -> tuple[npt.NDArray[np.int64], Ordinals]:
        """As `SimilarTexts.found_in`, without kernels."""
        attribute, catalog = self.axis.attribute, batch.catalog
        domain = catalog.domain_of(attribute)
        assert domain is not None
        wanted = [text_of_key(key) for key in self.keys]
        positions = batch.positions.to_pylist()
        rows = range(len(batch)) if offsets is None else owners(offsets).tolist()
        found: list[list[int]] = []
        for row, value in zip(rows, flat.to_pylist(), strict=True):
            known = catalog.statistics_of(attribute, positions[row])
            alike = (cosine(text, value or "", domain.language, known) >= least - TOLERANCE for text, least in wanted)
            found.append([] if value is None else [0, *(ordinal for ordinal, one in enumerate(alike, 1) if one)])
        ends, ordinals = flattened(found, np.int32)
        return ends if offsets is None else ends[offsets], ordinals

    @cached_property
    def known(self) -> Known:
        """The ordinals of an axis of words or terms by key."""
        return Known.of(self.keys, self.axis.role == "term")


def of_events(column: TextColumn, entries: Entries) -> tuple[npt.NDArray[np.int64], Ordinals]:
    """The terms of each event's texts; with several texts, some may repeat."""
    found, stops = taken(entries.offsets, column.texts)
    return stops if column.offsets is None else stops[column.offsets], entries.terms[found]


def degrees_of(flat: Any) -> npt.NDArray[np.float64]:
    """Latitude and longitude of each place; of a missing one they are arbitrary."""
    texts = flat.fill_null("")
    parts = pc.split_pattern(pc.if_else(pc.equal(texts, ""), "0,0", texts), ",").flatten()
    made: npt.NDArray[np.float64] = parts.cast(pa.float64()).to_numpy(zero_copy_only=False).reshape(-1, 2)
    return made


def are_points(cuts: Sequence[str]) -> bool:
    """Whether strings are cut at single values only: at each and right after it."""
    return len(cuts) % 2 == 0 and all(after == key + "\0" for key, after in zip(cuts[::2], cuts[1::2], strict=True))


def column_of(batch: EventBatch, attribute: str) -> Any:
    """The Arrow column of a name that filters may test; None if no event of the batch binds it."""
    match attribute:
        case "event.id":
            return batch.ids
        case "event.source":
            return batch.sources
        case "event.time":
            return batch.times
        case _ if attribute == EVENT_TYPE:
            return batch.event_types
        case _:
            return batch.columns.get(attribute)
