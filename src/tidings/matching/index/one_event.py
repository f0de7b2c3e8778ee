"""One event per call: from JSON or a dict straight to ordinals and the kernel, without Arrow.

Used by `BoxMatcher.match_one`. A quick check validates an event, or `validate` if in doubt. Its values become a row of
ordinals for each segment, and the kernel of batches matches this row. Matches that it leaves open, such as those of
patterns, are verified one by one. An event that needs a second look is left to batches."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, assert_never

import numpy as np
import numpy.typing as npt

from tidings.events import Event, EventBatch, validate
from tidings.events.quick_look import Bound, GivenEvent, QuickLook, raw_event
from tidings.language import Filter
from tidings.language.relations import ANY_RELATION, GREATER, LESS, SAME, UNRELATED
from tidings.language.words import words_of
from tidings.matching.algorithm import Matches
from tidings.matching.boxes.box import WORD_ROLES
from tidings.matching.boxes.box_table import RELATED
from tidings.matching.boxes.choices import compared, no_choices
from tidings.matching.boxes.dimension import UNBOUND, Dimension
from tidings.matching.boxes.event_table import EXTREMES, SEVERAL, EventTable, no_texts
from tidings.matching.boxes.texts.terms import finder
from tidings.matching.index import native
from tidings.matching.index.kernel import COUNTED
from tidings.matching.index.segment import Restriction, Segment
from tidings.matching.spans import Numbers
from tidings.matching.verified import verified
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind
from tidings.schema.values import Place

_NO_NUMBERS = np.zeros(0, np.int32)
_DEGREES = ("latitude", "longitude")
_MOST_OPEN = 50  # matches of one event to verify: some 0.05 ms each; a batch of one takes 1 to 3 ms
_MOST_MARKS = 2**31 - 2
_NOTHING = {
    native.ORDINAL: int(UNBOUND),
    native.NUMBER: float("nan"),
    native.LISTED_NUMBER: float("nan"),
    native.TIME: native.NO_TIME,
    native.LISTED_TIME: native.NO_TIME,
}

Segments = Sequence[tuple[Segment, Restriction]]
Find = Callable[[Any], Any]
FindAll = Callable[[Sequence[Any]], Iterable[int]]


class _Known(dict[Any, int]):
    """Ordinals of the keys that filters test for; any other value has the ordinal 0."""

    def __missing__(self, _key: Any) -> int:
        return 0


class _Place(NamedTuple):
    """How to write an attribute's values to one entry of the row."""

    place: int
    find: Find | None  # None: even one value may have several ordinals
    find_all: FindAll


class OneEvent:
    """The segments of a matcher under one catalog, for one event at a time."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._look = QuickLook(catalog).bindings
        self._segments: dict[Segment, OneSegment] = {}
        self._stamp = np.zeros(0, np.int32)
        self._mark = 0

    def match(
        self, given: GivenEvent, position: int, segments: Segments, numbers: int, filter_of: Callable[[int], Filter]
    ) -> Numbers | Event:
        """The numbers that match, or the event itself if it needs a second look. `segments` are those in use; `numbers`
        is how many there are. Raises RefusedEvent."""
        raw = raw_event(given)
        bound = self._look(raw) if type(raw) is dict else None
        if bound is None:
            raw = raw if isinstance(raw, Event) else validate(raw, self.catalog)
            bound = [(name, values[0] if len(values) == 1 else values) for name, values in raw.bindings().items()]
        if len(self._segments) > len(segments):
            self._segments = {one: self._segments[one] for one, _ in segments if one in self._segments}
        found, open = [], False
        for segment, restriction in segments:
            one = self._segments.get(segment)
            if one is None:
                one = self._segments[segment] = OneSegment(segment, self.catalog)
            count = one.match(bound)
            if count < 0:
                return raw if isinstance(raw, Event) else validate(raw, self.catalog)
            if segment.repeats or len(restriction.start):
                count = self._allowed(one, count, position, restriction, numbers)
            found.append(one.row.out[:count])
            open |= one.open
        joined = found[0].copy() if len(found) == 1 else np.concatenate([_NO_NUMBERS, *found])
        if not open:
            return joined
        event, verify = raw if isinstance(raw, Event) else validate(raw, self.catalog), joined < 0
        if np.count_nonzero(verify) > _MOST_OPEN:
            return event
        matches = Matches(np.array([0, len(joined)]), np.where(verify, ~joined, joined))
        return verified(matches, verify, EventBatch.of([event], self.catalog, position), filter_of).numbers

    def _allowed(self, one: OneSegment, count: int, position: int, restriction: Restriction, numbers: int) -> int:
        """How many of the first numbers remain after checking spans and removing duplicates."""
        if one.segment.repeats and (len(self._stamp) < numbers or self._mark == _MOST_MARKS):
            self._stamp, self._mark = np.zeros(2 * numbers, np.int32), 0
        self._mark += 1
        stamp = self._stamp if one.segment.repeats else _NO_NUMBERS
        allowed: int = native.keep_allowed(one.row.out, count, position, *restriction, stamp, self._mark)
        return allowed


class OneSegment:
    """A segment with the data for matching one event: lookups by attribute, and the arrays that the kernel reads."""

    def __init__(self, segment: Segment, catalog: Catalog) -> None:
        self.segment, self._most_combinations = segment, segment.thresholds.most_combinations
        dimensions, columns = segment.dimensions, len(segment.dimensions)
        # Similarity is rare enough that one event may take the way of a batch.
        self._only_batches = any(dimension.axis.role == "similar" for dimension in dimensions)
        self._ahead: list[tuple[str, _Place]] = []
        self.open = False  # whether Python must verify some of the last matches: those that are ~number
        self._places: dict[str, list[_Place]] = {}
        empty: list[int | float] = []
        holds: list[int] = []
        self._keys: list[npt.NDArray[Any] | None] = []
        for place, dimension in enumerate(dimensions):
            held = _held(dimension)
            holds.append(held)
            dtype = np.int64 if dimension.kind is Kind.TIME else np.float64
            self._keys.append(None if held == native.ORDINAL else np.ascontiguousarray(dimension.keys, dtype))
            empty.append(_NOTHING[held])
            made = _place(place, dimension, catalog)
            if dimension.axis.role == "ahead":
                self._ahead.append((dimension.axis.attribute, made))
            else:
                self._places.setdefault(dimension.axis.attribute, []).append(made)
        self._empty = empty
        numbers = native.NUMBER, native.LISTED_NUMBER
        self._pack = struct.Struct("=" + "".join("d" if held in numbers else "q" for held in holds)).pack_into
        self._relations = [(left, right, catalog.domain_of(left)) for left, right in segment.relations]
        residuals = segment.index.residuals
        self._looked_at_again = set(residuals[residuals[:, 0] == RELATED, 2].tolist())
        pairs = np.zeros((1, EXTREMES * len(self._relations)))
        self.events = EventTable(
            np.full((1, columns), UNBOUND), np.full((1, columns), UNBOUND), np.zeros((1, columns), np.int64),
            np.zeros((1, columns), np.int64), np.zeros(16, np.int32), np.zeros((1, len(self._relations)), np.uint8),
            pairs, pairs.view(np.int64), np.zeros(1, np.int64), *no_texts(),
        )  # fmt: skip
        self._computes = len(segment.index.constants) > 0
        values = np.zeros(max(columns, 1), np.int64)
        self.row = native.Row(
            values.view(np.float64), values, np.array(holds, np.int8), segment.bitmaps.accumulator(),
            np.zeros(len(COUNTED), np.int64), np.zeros(2, np.int64),
            np.empty(len(segment), np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.uint8),
        )  # fmt: skip
        attributes, of_attributes = compared(dimensions, segment.relations)
        self._choices = no_choices(1, columns)._replace(attributes=attributes, dimension=of_attributes)
        self._values = values.data.cast("B")
        self._table = native.address_table(
            segment.index, segment.bitmaps, self.events, self._choices, self.row, self._keys
        )

    def match(self, bound: Bound) -> int:
        """How many numbers were written to `row.out`, without checking spans. Negative: needs a second look."""
        self.open = False
        if self._only_batches:
            return -1
        row = self._empty.copy()
        several: list[tuple[int, list[int]]] = []
        places = self._places
        for name, value in bound:
            if name in places:
                one = type(value) is not tuple
                for place, find, find_all in places[name]:
                    if one and find is not None:
                        row[place] = find(value)
                    else:
                        several.append((place, sorted(set(find_all((value,) if one else value)))))
        if self._ahead:
            self._look_ahead(dict(bound), row, several)
        if row:
            self._pack(self._values, 0, *row)
        if self._relations and not self._relate(dict(bound)):
            return -1
        if several:
            return self._match_several(several)
        return self._run()

    def _run(self) -> int:
        found: int = native.match_row(self._table, self._most_combinations)
        self.open = found == native.OPEN
        return int(self.row.offsets[1]) if self.open else found

    def _look_ahead(self, bound: dict[str, Any], row: list[int | float], several: list[tuple[int, list[int]]]) -> None:
        """How far times lie after the event's own, which is `now`; nothing if it has none."""
        now = bound.get("event.time")
        for name, (place, _, find_all) in self._ahead:
            value = bound.get(name)
            if now is None or value is None:
                continue
            if type(value) is tuple:
                several.append((place, sorted(set(find_all([one - now for one in value])))))
            else:
                row[place] = value - now

    def _match_several(self, several: list[tuple[int, list[int]]]) -> int:
        """Handles entries of the row with several ordinals."""
        size = sum(len(ordinals) for _, ordinals in several)
        if size > len(self.events.sets):
            self.events = native.replace(self._table, self.events, sets=np.empty(2 * size, np.int32))
        used = 0
        for place, ordinals in several:
            self.events.set_starts[0, place], self.events.set_stops[0, place] = used, used + len(ordinals)
            self.events.sets[used : used + len(ordinals)] = ordinals
            used += len(ordinals)
        try:
            return self._run()
        finally:
            self.events.set_stops[0, :] = 0
            self.events.set_starts[0, :] = 0

    def _relate(self, bound: dict[str, Any]) -> bool:
        """Whether the possible relations of every two attributes are known, as far as filters ask for them."""
        for place, (left, right, domain) in enumerate(self._relations):
            assert domain is not None
            relation = _relation(bound.get(left), bound.get(right), domain)
            if relation == SEVERAL:
                relation |= ANY_RELATION
                if place in self._looked_at_again:
                    if left == right or domain.stored_as is Kind.HIERARCHICAL:
                        return False
                    relation = SEVERAL | _possible(_values(bound[left]), _values(bound[right]), domain)
            self.events.relations[0, place] = relation
            if self._computes and relation:
                self._write_pair(EXTREMES * place, bound[left], bound[right], domain.kind)
        return True

    def _write_pair(self, at: int, left: Any, right: Any, kind: Kind) -> None:
        """What residuals compute with."""
        if kind is Kind.PLACE:
            if type(left) is not tuple:
                self.events.pair_numbers[0, at : at + 2] = Place(left).degrees
        elif kind in (Kind.NUMERIC, Kind.TIME):
            into = self.events.pair_numbers if kind is Kind.NUMERIC else self.events.pair_instants
            one, other = _values(left), _values(right)
            into[0, at : at + EXTREMES] = min(one), min(other), max(one), max(other)


def _held(dimension: Dimension) -> int:
    """What the row holds for a dimension: an ordinal, or a value that the kernel searches for among the keys."""
    listed = dimension.axis.role == "member"
    if dimension.given or isinstance(dimension.keys, list):
        return native.ORDINAL
    if dimension.kind is Kind.TIME:
        return native.LISTED_TIME if listed else native.TIME
    return native.LISTED_NUMBER if listed else native.NUMBER


def _place(place: int, dimension: Dimension, catalog: Catalog) -> _Place:
    keys, role = dimension.keys, dimension.axis.role
    if dimension.given:
        domain = catalog.domain_of(dimension.axis.attribute)
        assert domain is not None
        find: Find = domain.ordinal
    elif role in _DEGREES:
        which = _DEGREES.index(role)
        ordinals = partial(_searched, keys, False)
        return _Place(
            place,
            lambda value: Place(value).degrees[which],
            lambda values: ordinals([Place(value).degrees[which] for value in values]),
        )
    elif not isinstance(keys, list):
        ordinals = partial(_searched, keys, role == "member")
        return _Place(place, int if dimension.kind is Kind.TIME else float, ordinals)
    elif role == "word":  # at the speed of sets: the words that filters name, of those of the texts
        known = dimension.known.ordinals
        return _Place(
            place,
            None,
            lambda values: {known[word] for value in values for word in known.keys() & words_of(value)} or {0},
        )
    elif role in WORD_ROLES:
        found = finder(dimension, catalog)
        return _Place(
            place, None, lambda values: {o for value in values for w in words_of(value) for o in found(w)} or {0}
        )
    elif role == "path":
        held = dimension.held_paths
        return _Place(place, None, lambda values: held.of_one([value.encode() for value in values]))
    elif role == "member":
        find = _Known((key, ordinal) for ordinal, key in enumerate(keys, 1)).__getitem__
    elif dimension.only_points:
        find = _Known((key, 2 * number + 1) for number, key in enumerate(keys[::2])).__getitem__
    elif role == "backwards":
        find = lambda value: bisect_right(keys, value[::-1])  # noqa: E731
    else:
        find = partial(bisect_right, keys)
    return _Place(place, find, lambda values: map(find, values))


def _searched(keys: npt.NDArray[Any], listed: bool, values: Sequence[Any]) -> list[int]:
    """The ordinals of several numbers or instants."""
    wanted = np.array(values, keys.dtype)
    ordinals = np.searchsorted(keys, wanted, side="right")
    if listed and len(keys):
        ordinals = np.where((ordinals > 0) & (keys[np.maximum(ordinals - 1, 0)] == wanted), ordinals, 0)
    found: list[int] = ordinals.tolist()
    return found


def _relation(left: Any, right: Any, domain: Domain) -> int:
    """The relation between two attributes, as one bit; 0 if one is unbound, SEVERAL for several values."""
    if left is None or right is None:
        return 0
    if type(left) is tuple or type(right) is tuple:
        return SEVERAL
    if left == right:
        return SAME
    match domain.stored_as:
        case Kind.HIERARCHICAL:
            a, b, ends = domain.ordinal(left), domain.ordinal(right), domain.hierarchy.ends
            return LESS if b < a < ends[b] else GREATER if a < b < ends[a] else UNRELATED
        case Kind.ENUMERATED:
            return LESS if domain.ordinal(left) < domain.ordinal(right) else GREATER
        case Kind.NUMERIC | Kind.TIME | Kind.STRING | Kind.TEXT | Kind.PLACE | Kind.DOCUMENT:
            return LESS if left < right else GREATER
        case _:
            assert_never(domain.stored_as)


def _values(bound: Any) -> tuple[Any, ...]:
    return bound if type(bound) is tuple else (bound,)


def _possible(left: tuple[Any, ...], right: tuple[Any, ...], domain: Domain) -> int:
    """The relations between some of these values and some of those, in a total order."""
    if domain.stored_as is Kind.ENUMERATED:
        left, right = tuple(map(domain.ordinal, left)), tuple(map(domain.ordinal, right))
    less, greater = min(left) < max(right), max(left) > min(right)
    same = not set(left).isdisjoint(right)
    return (LESS if less else 0) | (GREATER if greater else 0) | (SAME if same else 0)
