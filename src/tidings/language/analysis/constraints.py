"""What a conjunction demands, gathered by attribute: the summary that satisfiability, covering and boxes read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from tidings.language.like import fits
from tidings.language.normal_form import Conjunction, Literal
from tidings.language.predicates import attributes_of, kind_of
from tidings.language.predicates.kind import (
    AheadIn,
    Demand,
    EndIn,
    Fits,
    HasMember,
    HasPath,
    HasPattern,
    HasWords,
    IsBound,
    IsSimilar,
    Relates,
    RelatesLinearly,
    SpaceOf,
    ValueIn,
    Verified,
    WithinRegion,
)
from tidings.language.ranges import (
    AHEAD,
    BACKWARDS,
    Ranges,
    attribute_space,
    beginning_with,
    complement,
    contains,
    intersect,
    intersect_all,
    is_one_string,
)
from tidings.language.relations import ANY_RELATION, SAME, UNRELATED, mirrored
from tidings.language.tree import Not
from tidings.schema.catalog import ALWAYS_BOUND, Catalog
from tidings.schema.values import Number, Value


@dataclass(slots=True)
class Constraints:
    """All demands of one conjunction."""

    ranges: dict[str, Ranges] = field(default_factory=dict)  # of the chosen value
    bound: set[str] = field(default_factory=set)
    unbound: set[str] = field(default_factory=set)
    members: set[tuple[str, Value]] = field(default_factory=set)
    strangers: set[tuple[str, Value]] = field(default_factory=set)  # must not be among the bound ones
    words: list[HasWords] = field(default_factory=list)
    absent_words: list[HasWords] = field(default_factory=list)
    patterns: set[HasPattern] = field(default_factory=set)
    paths: set[HasPath] = field(default_factory=set)
    similar: set[IsSimilar] = field(default_factory=set)
    relations: dict[tuple[str, str], int] = field(default_factory=dict)  # by names in order
    linear: dict[tuple[str, str, Number, Number], int] = field(default_factory=dict)  # bits by names, scale, offset
    ahead: dict[str, Ranges] = field(default_factory=dict)  # of the chosen time, from now
    ends: dict[str, Ranges] = field(default_factory=dict)  # of the chosen string, read backwards
    fits: set[Fits] = field(default_factory=set)  # the chosen string
    regions: set[WithinRegion] = field(default_factory=set)
    verified: list[Literal] = field(default_factory=list)

    def relate(self, left: str, right: str, bits: int) -> None:
        if left > right:
            left, right, bits = right, left, mirrored(bits)
        if left == right:
            bits &= SAME
        self.relations[left, right] = self.relations.get((left, right), ANY_RELATION) & bits

    def end(self, attribute: str, admitted: Ranges) -> None:
        known = self.ends.get(attribute)
        self.ends[attribute] = admitted if known is None else intersect(known, admitted)

    def decide_listed_strings(self) -> None:
        """Where only single strings are left, what else is said of them is decided."""
        for attribute in {*self.ends, *(one.attribute for one in self.fits)}:
            ranges = self.ranges.get(attribute, BACKWARDS.everything)
            if all(map(is_one_string, ranges)):
                patterns = [one for one in self.fits if one.attribute == attribute]
                ends = self.ends.pop(attribute, BACKWARDS.everything)
                self.fits.difference_update(patterns)
                self.ranges[attribute] = tuple(
                    one
                    for one in ranges
                    if contains(ends, one[0][::-1])
                    and all(fits(pattern, one[0]) is not negated for _, pattern, negated in patterns)
                )

    def binds(self, attribute: str) -> bool:
        return attribute in self.bound or attribute in ALWAYS_BOUND

    def ties(self, attribute: str) -> bool:
        """Whether a demand beside its range speaks of the attribute's chosen value."""
        return (
            any(attribute in pair for pair in self.relations)
            or any(attribute in key[:2] for key in self.linear)
            or attribute in self.ahead
            or attribute in self.ends
            or any(attribute == one.attribute for one in self.fits)
            or any(attribute == region.region.attribute for region in self.regions)
            or any(attribute in attributes_of(literal) for literal in self.verified)
        )


def constraints_of(conjunction: Conjunction, catalog: Catalog, space: SpaceOf | None = None) -> Constraints:
    """The demands of a bound conjunction. `space` gives an attribute's space where it is not simply its domain's."""
    spaces = space or (lambda attribute: attribute_space(attribute, catalog))
    gathered = Constraints()
    ranges: dict[str, list[Ranges]] = {}
    for literal in conjunction:
        demand = demand_of(literal, spaces)
        if type(demand) is not IsBound:
            gathered.bound.update(attributes_of(literal))
        match demand:
            case ValueIn(attribute, admitted):
                ranges.setdefault(attribute, []).append(admitted)
            case Relates(left, right, bits):
                total = spaces(left).domain.kind.totally_ordered
                gathered.relate(left, right, bits & ~UNRELATED if total else bits)
            case RelatesLinearly(left, right, bits, scale, offset):
                key = left, right, scale, offset
                gathered.linear[key] = gathered.linear.get(key, ANY_RELATION & ~UNRELATED) & bits
            case AheadIn(attribute, admitted):
                known = gathered.ahead.get(attribute)
                gathered.ahead[attribute] = admitted if known is None else intersect(known, admitted)
            case EndIn(attribute, admitted):
                gathered.end(attribute, admitted)
            case Fits(attribute, pattern, negated):
                gathered.fits.add(demand)
                if not negated:
                    ranges.setdefault(attribute, []).append(beginning_with(pattern.prefix))
                    gathered.end(attribute, beginning_with(pattern.suffix[::-1]))
            case WithinRegion():
                gathered.regions.add(demand)
            case HasMember(attribute, value, negated):
                (gathered.strangers if negated else gathered.members).add((attribute, value))
            case HasWords(negated=negated):
                (gathered.absent_words if negated else gathered.words).append(demand)
            case HasPattern():
                gathered.patterns.add(demand)
            case HasPath():
                gathered.paths.add(demand)
            case IsSimilar():
                gathered.similar.add(demand)
            case IsBound(attribute, negated):
                (gathered.unbound if negated else gathered.bound).add(attribute)
            case Verified(unsaid):
                gathered.verified.append(unsaid)
            case _:
                assert_never(demand)
    gathered.ranges = {attribute: intersect_all(parts) for attribute, parts in ranges.items()}
    gathered.decide_listed_strings()
    return gathered


def demand_of(literal: Literal, space: SpaceOf) -> Demand:
    """What a predicate or its negation demands of an event."""
    if not isinstance(literal, Not):
        return kind_of(literal).demand(literal, space)
    return _opposite(demand_of(literal.term, space), space)  # type: ignore[arg-type]


def _opposite(demand: Demand, space: SpaceOf) -> Demand:
    match demand:
        case ValueIn(attribute, ranges):
            return ValueIn(attribute, complement(ranges, space(attribute)))
        case Relates(left, right, bits):
            return Relates(left, right, ANY_RELATION & ~bits)
        case RelatesLinearly(bits=bits):
            return demand._replace(bits=ANY_RELATION & ~bits)
        case AheadIn(attribute, ranges):
            return AheadIn(attribute, complement(ranges, AHEAD))
        case EndIn(attribute, ranges):
            return EndIn(attribute, complement(ranges, BACKWARDS))
        case HasMember() | HasWords() | HasPattern() | HasPath() | IsSimilar() | IsBound() | WithinRegion() | Fits():
            return demand._replace(negated=not demand.negated)
        case Verified(literal):
            return Verified(literal.term if isinstance(literal, Not) else Not(literal))  # type: ignore[arg-type]
        case _:
            assert_never(demand)
