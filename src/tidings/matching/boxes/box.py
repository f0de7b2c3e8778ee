"""A filter as boxes: at most one interval per axis, plus residual predicates that no interval can express.

An axis is one question about an event: the *value* of an attribute (comparisons), whether something is a *member* of
its values (`contains`), or a *word* of them. An event answers with a set of keys and satisfies a side of a box if one
of its keys lies inside. So all kinds of predicates have one form, and multi-valued events need no expansion.

Residuals that depend on which value was chosen together with another (attribute against attribute, `contains all`) are
exact while the event has one value there; otherwise the candidate gets a second look.

Boxes survive the growth of an enumeration: new values come at its end, so one extra ordinal after the last represents
all future ones. When a hierarchy grows, categories are renumbered, and boxes that test it are rebuilt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from tidings.language import Filter
from tidings.language.constraints import Constraints, constraints_of
from tidings.language.ranges import Key, Ranges, Space, attribute_space
from tidings.language.relations import SAME
from tidings.language.satisfiability import impossible
from tidings.schema.catalog import ALWAYS_BOUND, Catalog
from tidings.schema.domain import Kind

Role = Literal["value", "member", "word"]

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
class Related:
    """Two attributes' values have one of the relations (bits as in `language.relations`)."""

    left: str
    right: str
    bits: int


@dataclass(frozen=True, slots=True)
class Unbound:
    attribute: str


@dataclass(frozen=True, slots=True)
class Verify:
    """A predicate that no kernel can decide: if everything else holds, the filter is evaluated on the event."""


Residual = InRanges | Has | Related | Unbound | Verify


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
    residuals += [Related(left, right, bits) for (left, right), bits in constraints.relations.items()]
    residuals += [Unbound(attribute) for attribute in constraints.unbound]
    residuals += [Verify()] if constraints.verified else []
    named = {side.axis.attribute for side in (*sides, *split[:1])}
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


def _one_value(attribute: str) -> Related:
    """The other predicates assumed a single value: true if there is one; the candidate gets a second look if there are
    several."""
    return Related(attribute, attribute, SAME)
