"""A filter as boxes: at most one interval per axis, plus residual predicates that no interval can express.

An axis is one question about an event: the *value* of an attribute (comparisons), whether something is a *member* of
its values (`contains`), a *word* of them, a *term* of a pattern (a word, the beginning of one, a stem), a string read
*backwards*, how far a time lies *ahead* of now, a place's *latitude* or *longitude*, a *path* that selects something in
a document, a text that it is *similar* to. An event answers with a set of keys and satisfies a side of a box if one of
its keys lies inside. So all kinds of predicates have one form, and multi-valued events need no expansion.

Residuals that depend on which value was chosen together with another (attribute against attribute, `contains all`) are
exact while the event has one value there; otherwise the candidate gets a second look, or, where arithmetic, `now` or
a region is involved, is left to Python.

Boxes survive the growth of an enumeration: new values come at its end, so one extra ordinal after the last represents
all future ones. When a hierarchy grows, categories are renumbered, and boxes that test it are rebuilt."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tidings.language import Filter
from tidings.language.analysis.constraints import Constraints, constraints_of
from tidings.language.analysis.satisfiability import impossible, language_of
from tidings.language.ranges import AHEAD, BACKWARDS, Key, Ranges, Space, attribute_space, intersect, space_of, union
from tidings.language.relations import SAME
from tidings.language.similarity import similar_key
from tidings.language.tree import Near
from tidings.matching.boxes.texts.pattern_shape import Shape, compiled
from tidings.paths.keys import path_key
from tidings.schema.catalog import ALWAYS_BOUND, Catalog
from tidings.schema.domain import Domain, Kind
from tidings.schema.region import METRES, bounds_of_box, bounds_of_circle
from tidings.schema.values import Number, Span

Role = Literal["value", "member", "word", "term", "backwards", "ahead", "latitude", "longitude", "path", "similar"]
WORD_ROLES = ("word", "term")  # an event has those that filters name
POINT_ROLES = ("member", *WORD_ROLES, "path", "similar")  # a side is one key; on the others it is a range

DEGREES = space_of(Domain("degrees", Kind.NUMERIC))
_MOST_TERMS = 256  # of which one is required: a box each
_MOST_SPLITS = 16  # an `in` list up to this long becomes one box per value, each with an equality to look up


class Axis(NamedTuple):
    attribute: str
    role: Role


@dataclass(frozen=True, slots=True)
class Side:
    """The keys [low, high) of a value axis, None if unbounded; for a member or word axis the one key, twice."""

    axis: Axis
    low: Key | None
    high: Key | None


@dataclass(frozen=True, slots=True)
class InRanges:
    """The value lies in one of several ranges [low, high), None if unbounded."""

    axis: Axis
    ranges: tuple[tuple[Key | None, Key | None], ...]


@dataclass(frozen=True, slots=True)
class Has:
    """Any, or all, of the keys are members (or words)."""

    axis: Axis
    quantifier: Literal["any", "all"]
    keys: tuple[Key, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class FitsPattern:
    """One text satisfies the pattern with these terms; if negated, none does."""

    axis: Axis
    terms: tuple[str, ...]
    shape: Shape
    negated: bool


@dataclass(frozen=True, slots=True)
class Related:
    """Two attributes' values have one of the relations (bits as in `language.relations`)."""

    left: str
    right: str
    bits: int


@dataclass(frozen=True, slots=True)
class Linear:
    """As `Related`, with the right value times `scale` plus `offset`."""

    left: str
    right: str
    bits: int
    scale: Number
    offset: Number | Span


@dataclass(frozen=True, slots=True)
class InRegion:
    """The place lies in the region; `numbers` are its centre and radius in metres, or its corners."""

    attribute: str
    shape: Literal["circle", "box"]
    numbers: tuple[float, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Single:
    """True if the attribute has one value; with several, Python decides."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Unbound:
    attribute: str


@dataclass(frozen=True, slots=True)
class Verify:
    """A predicate that no kernel can decide: if everything else holds, the filter is evaluated on the event."""


Residual = InRanges | Has | FitsPattern | Related | Linear | InRegion | Single | Unbound | Verify


@dataclass(frozen=True, slots=True)
class Box:
    sides: tuple[Side, ...]
    residuals: tuple[Residual, ...] = ()


def boxes_of(filter: Filter, catalog: Catalog) -> list[Box]:
    """The boxes whose union is the filter; none if it can never match."""
    found: list[Box] = []
    for conjunction in filter.conjunctions:
        constraints = constraints_of(conjunction, catalog, lambda attribute: _space(catalog, attribute))
        if not impossible(constraints):
            found.extend(_boxes(constraints, catalog))
    return found


def _space(catalog: Catalog, attribute: str) -> Space:
    """The attribute's space; an enumeration's has one extra ordinal, so that `size = 'XL'` ends at XL and `size >=
    'XL'` is unbounded."""
    space = attribute_space(attribute, catalog)
    return space._replace(top=space.top + 1) if space.domain.stored_as is Kind.ENUMERATED else space


def _boxes(constraints: Constraints, catalog: Catalog) -> list[Box]:
    sides: list[Side] = []
    residuals: list[Residual] = []
    split: list[Side] = []
    for attribute, ranges in constraints.ranges.items():
        axis = Axis(attribute, "value")
        space = _space(catalog, attribute)
        points = all(space.successor(low) == high for low, high in ranges)
        if not split and points and 1 < len(ranges) <= _MOST_SPLITS:
            split = [_side(axis, (one,), space) for one in ranges]
            continue
        sides.append(_side(axis, ranges, space))
        if len(ranges) > 1:
            residuals.append(InRanges(axis, tuple(_open_ends(one, space) for one in ranges)))
    _members(constraints, catalog, sides, residuals)
    _words(constraints, sides, residuals)
    _paths(constraints, sides, residuals)
    _similar(constraints, sides, residuals)
    split += _patterns(constraints, catalog, sides, residuals, not split)
    _ahead(constraints, sides, residuals)
    _ends(constraints, sides, residuals)
    if not _regions(constraints, sides, residuals):
        return []
    residuals += [Related(left, right, bits) for (left, right), bits in constraints.relations.items()]
    residuals += [
        Linear(left, right, bits, scale, offset) for (left, right, scale, offset), bits in constraints.linear.items()
    ]
    residuals += [Unbound(attribute) for attribute in constraints.unbound]
    residuals += [Verify()] if constraints.verified or constraints.fits else []
    named = {side.axis.attribute for side in (*sides, *split[:1])}
    if named:  # a comparison of two attributes does not hold where one is missing: no side has to say so
        pairs = (*constraints.relations, *((left, right) for left, right, _, _ in constraints.linear))
        named.update(name for pair in pairs for name in pair)
    for attribute in constraints.bound - named - set(ALWAYS_BOUND):
        sides.append(Side(Axis(attribute, "value"), None, None))
    if not split:
        return [Box(tuple(sides), tuple(residuals))]
    return [Box((*sides, one), tuple(residuals)) for one in split]


def _side(axis: Axis, ranges: Ranges, space: Space) -> Side:
    return Side(axis, *_open_ends((ranges[0][0], ranges[-1][1]), space))


def _open_ends(one: tuple[Key, Key], space: Space) -> tuple[Key | None, Key | None]:
    low, high = one
    return None if low == space.bottom else low, None if high == space.top else high


def _members(constraints: Constraints, catalog: Catalog, sides: list[Side], residuals: list[Residual]) -> None:
    """The first required member of an attribute is a side, so that it can be looked up; the others are residuals."""
    for attribute, value in sorted(constraints.members, key=repr):
        axis = Axis(attribute, "member")
        key = _space(catalog, attribute).key(value)
        if any(side.axis == axis for side in sides):
            residuals.append(Has(axis, "any", (key,)))
        else:
            sides.append(Side(axis, key, key))
    for attribute, value in sorted(constraints.strangers, key=repr):
        key = _space(catalog, attribute).key(value)
        residuals.append(Has(Axis(attribute, "member"), "any", (key,), negated=True))


def _words(constraints: Constraints, sides: list[Side], residuals: list[Residual]) -> None:
    for wanted in constraints.words:
        axis = Axis(wanted.attribute, "word")
        words = list(wanted.words)
        if wanted.quantifier == "all" and not any(side.axis == axis for side in sides):
            longest = max(words, key=len)  # long words are rare
            sides.append(Side(axis, longest, longest))
            words = words if len(words) > 1 else []
        if words:
            residuals.append(Has(axis, wanted.quantifier, tuple(words)))
        if wanted.quantifier == "all" and len(wanted.words) > 1:
            residuals.append(_one_value(wanted.attribute))
    for absent in constraints.absent_words:
        if absent.quantifier == "all" and len(absent.words) > 1:
            residuals.append(_one_value(absent.attribute))  # before the words: with several values, these prove nothing
        residuals.append(Has(Axis(absent.attribute, "word"), absent.quantifier, absent.words, negated=True))


def _patterns(
    constraints: Constraints, catalog: Catalog, sides: list[Side], residuals: list[Residual], may_split: bool
) -> list[Side]:
    """Terms that a pattern requires are looked up; unless they decide it, it is tested on the words of each text.
    Returns the sides of which one holds."""
    split: list[Side] = []
    for attribute, pattern, negated in sorted(constraints.patterns, key=repr):
        axis = Axis(attribute, "term")
        made = compiled(pattern, language_of(attribute, catalog))
        test = FitsPattern(axis, made.terms, made.shape, negated)
        choices = sorted(made.clauses, key=lambda clause: (len(clause), *_rarity(clause[0])))
        if negated or not choices or any(side.axis == axis for side in (*sides, *split)):
            residuals.append(test)
            continue
        if len(choices[0]) == 1:
            sides.append(Side(axis, choices[0][0], choices[0][0]))
        elif may_split and not split and len(choices[0]) <= _MOST_TERMS:
            split = [Side(axis, key, key) for key in choices[0]]
        else:
            residuals.append(test)
            continue
        if not made.exact or len(choices) > 1:
            residuals.append(test)
    return split


def _similar(constraints: Constraints, sides: list[Side], residuals: list[Residual]) -> None:
    """As paths: which texts an event is similar to is found for all filters together (`weight_index`)."""
    for one in sorted(constraints.similar, key=lambda one: (one.negated, -one.least, one)):
        axis, key = Axis(one.attribute, "similar"), similar_key(one.text, one.least)
        if one.negated or any(side.axis == axis for side in sides):
            residuals.append(Has(axis, "any", (key,), one.negated))
        else:
            sides.append(Side(axis, key, key))


def _paths(constraints: Constraints, sides: list[Side], residuals: list[Residual]) -> None:
    """One path that must select something is looked up, the others are residuals: all are found together."""
    named = [(one.attribute, path_key(one.path), one.negated) for one in constraints.paths]
    for attribute, key, negated in sorted(named, key=lambda one: (one[2], -len(one[1]), one)):
        axis = Axis(attribute, "path")
        if negated or any(side.axis == axis for side in sides):
            residuals.append(Has(axis, "any", (key,), negated))
        else:
            sides.append(Side(axis, key, key))


def _rarity(term: str) -> tuple[int, int]:
    """The least for what is probably rarest: whole words, long ones. Segments know better (`index.rarest`)."""
    return "=*~".index(term[0]), -len(term)


def _ahead(constraints: Constraints, sides: list[Side], residuals: list[Residual]) -> None:
    """`A < now + 2 h` is a side. Where the chosen time must satisfy something else too, one value is assumed."""
    for attribute, ranges in constraints.ahead.items():
        axis = Axis(attribute, "ahead")
        sides.append(_side(axis, ranges, AHEAD))
        if len(ranges) > 1:
            residuals.append(InRanges(axis, tuple(_open_ends(one, AHEAD) for one in ranges)))
        if attribute in constraints.ranges or any(attribute in pair for pair in constraints.relations):
            residuals.append(Single(attribute))


def _ends(constraints: Constraints, sides: list[Side], residuals: list[Residual]) -> None:
    """`A ends with 'x'` is a side of strings read backwards, with one value assumed as in `_ahead`."""
    for attribute, ranges in constraints.ends.items():
        if ranges == BACKWARDS.everything:
            continue
        axis = Axis(attribute, "backwards")
        sides.append(_side(axis, ranges, BACKWARDS))
        if len(ranges) > 1:
            residuals.append(InRanges(axis, tuple(_open_ends(one, BACKWARDS) for one in ranges)))
        if attribute in constraints.ranges or any(attribute in pair for pair in constraints.relations):
            residuals.append(Single(attribute))


def _regions(constraints: Constraints, sides: list[Side], residuals: list[Residual]) -> bool:
    """Latitudes and longitudes that enclose the regions are sides; the regions themselves are residuals. False if the
    regions of a place are known not to overlap."""
    latitudes: dict[str, Ranges] = {}
    longitudes: dict[str, Ranges] = {}
    for region, negated in sorted(constraints.regions, key=repr):
        attribute = region.attribute
        if isinstance(region, Near):
            latitude, longitude = region.centre.degrees
            metres = float(region.distance) * METRES[region.unit]
            bounds = bounds_of_circle(latitude, longitude, metres)
            residuals.append(InRegion(attribute, "circle", (latitude, longitude, metres), negated))
        else:
            south, west, north, east = map(float, region.corners)
            bounds = bounds_of_box(south, west, north, east)
            residuals.append(InRegion(attribute, "box", (south, west, north, east), negated))
        if negated:
            continue
        north_south = ((bounds.south, math.nextafter(bounds.north, math.inf)),)
        latitudes[attribute] = intersect(latitudes.get(attribute, DEGREES.everything), north_south)
        if bounds.longitudes:
            west_east = union((_longitudes(west, east),) for west, east in bounds.longitudes)
            longitudes[attribute] = intersect(longitudes.get(attribute, DEGREES.everything), west_east)
    if not all((*latitudes.values(), *longitudes.values())):
        return False
    for role, found in (("latitude", latitudes), ("longitude", longitudes)):
        for attribute, ranges in found.items():
            axis = Axis(attribute, role)  # type: ignore[arg-type]
            sides.append(_side(axis, ranges, DEGREES))
            if len(ranges) > 1:
                residuals.append(InRanges(axis, tuple(_open_ends(one, DEGREES) for one in ranges)))
    return True


def _longitudes(west: float, east: float) -> tuple[Key, Key]:
    """Half-open, and unbounded where it reaches the date line."""
    return (
        DEGREES.bottom if west <= -180 else west,
        DEGREES.top if east >= 180 else math.nextafter(east, math.inf),
    )


def _one_value(attribute: str) -> Related:
    """The other predicates assumed a single value: true if there is one; the candidate gets a second look if there are
    several."""
    return Related(attribute, attribute, SAME)
