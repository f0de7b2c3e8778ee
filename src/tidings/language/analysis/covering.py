"""Covering: f covers g when every event that matches g matches f.

Sound always; complete for conjunctions of comparisons with constants. It speaks of the catalog it is given:
an enumeration that grows may end a covering (`brand != 'opel'` and all the other brands of today).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidings.errors import expect
from tidings.language.analysis.constraints import Constraints, constraints_of
from tidings.language.analysis.satisfiability import impossible, language_of, pattern_of_words
from tidings.language.filter import Filter
from tidings.language.like import LikePattern, fits, pattern_of
from tidings.language.patterns.implication import implies
from tidings.language.patterns.text_words import text_words
from tidings.language.patterns.tree import Pattern, all_of
from tidings.language.predicates.kind import Fits, HasPath, HasPattern, HasWords, IsSimilar
from tidings.language.ranges import (
    AHEAD,
    BACKWARDS,
    Ranges,
    Space,
    attribute_space,
    beginning_with,
    contains,
    includes,
    intersect,
    is_one_string,
)
from tidings.language.relations import GREATER, LESS, SAME
from tidings.paths.covering import covers as path_covers
from tidings.schema.catalog import Catalog
from tidings.schema.values import Value


def covers(wider: Filter, narrower: Filter, catalog: Catalog) -> bool:
    """Whether each alternative of the narrower filter is covered by one alternative of the wider."""
    for name, filter in (("wider", wider), ("narrower", narrower)):
        expect(filter, Filter, "covers", name, "a Filter (Filter.parse takes a text)")
    expect(catalog, Catalog, "covers", "catalog", "a tidings.Schema")
    outer, inner = ([constraints_of(one, catalog) for one in side.conjunctions] for side in (wider, narrower))
    return alternatives_cover(outer, [one for one in inner if not impossible(one)], catalog)


def alternatives_cover(outer: Sequence[Constraints], inner: Sequence[Constraints], catalog: Catalog) -> bool:
    """Whether each alternative of a filter, of those that are possible, is covered by one of another filter."""
    return all(any(_covers(one, narrow, catalog) for one in outer) for narrow in inner)


def _covers(outer: Constraints, inner: Constraints, catalog: Catalog) -> bool:
    return (
        all(inner.binds(attribute) for attribute in outer.bound)
        and outer.unbound <= inner.unbound
        and all(_range_covers(attribute, outer, inner, catalog) for attribute in outer.ranges)
        and all(_has_member(attribute, value, inner, catalog) for attribute, value in outer.members)
        and outer.strangers <= inner.strangers
        and all(_has_words(wanted, inner, catalog) for wanted in outer.words)
        and all(_lacks_words(absent, inner, catalog) for absent in outer.absent_words)
        and all(_satisfies(wanted, inner, catalog) for wanted in outer.patterns)
        and all(_has_path(wanted, inner) for wanted in outer.paths)
        and all(_is_as_similar(wanted, inner) for wanted in outer.similar)
        and all(literal in inner.verified for literal in outer.verified)
        and outer.regions <= inner.regions
        and all(_ends_cover(attribute, ranges, inner) for attribute, ranges in outer.ends.items())
        and all(_fits(wanted, inner) for wanted in outer.fits)
        and all(includes(outer.ahead[name], inner.ahead.get(name, AHEAD.everything)) for name in outer.ahead)
        and all(key in inner.linear and not inner.linear[key] & ~bits for key, bits in outer.linear.items())
        and all(_relates(pair, bits, inner, catalog) for pair, bits in outer.relations.items())
    )


def _range_covers(attribute: str, outer: Constraints, inner: Constraints, catalog: Catalog) -> bool:
    wide, known = outer.ranges[attribute], inner.ranges.get(attribute)
    if known is not None and includes(wide, known):
        return True
    space = attribute_space(attribute, catalog)
    if known is None and includes(wide, space.everything):
        return True
    if outer.ties(attribute):
        return False  # the value that is a member may not be the one that the other demand was shown for
    return any(bool(intersect(wide, space.point(value))) for name, value in inner.members if name == attribute)


def _has_member(attribute: str, value: Value, inner: Constraints, catalog: Catalog) -> bool:
    if (attribute, value) in inner.members:
        return True
    return inner.ranges.get(attribute) == attribute_space(attribute, catalog).point(value)


def _has_words(wanted: HasWords, inner: Constraints, catalog: Catalog) -> bool:
    return _satisfies(HasPattern(wanted.attribute, pattern_of_words(wanted)), inner, catalog)


def _satisfies(wanted: HasPattern, inner: Constraints, catalog: Catalog) -> bool:
    attribute, pattern, negated = wanted
    language = language_of(attribute, catalog)
    if negated:
        absent = [one.pattern for one in inner.patterns if one.attribute == attribute and one.negated]
        absent += [pattern_of_words(one) for one in inner.absent_words if one.attribute == attribute]
        return any(implies(pattern, one, language) for one in absent)
    listed = _listed(attribute, inner)
    if listed is not None and all(text_words(value, language).satisfies(pattern) for value in listed):
        return True
    return _implied(attribute, pattern, inner, catalog)


def _implied(attribute: str, pattern: Pattern, inner: Constraints, catalog: Catalog) -> bool:
    """Whether a pattern that one of the values satisfies implies this one."""
    known = [one.pattern for one in inner.patterns if one.attribute == attribute and not one.negated]
    known += [pattern_of_words(one) for one in inner.words if one.attribute == attribute]
    if len(known) > 1 and not catalog.may_be_multiple(attribute):
        known.append(all_of(known))  # they speak of the same value
    return any(implies(one, pattern, language_of(attribute, catalog)) for one in known)


def _ends_cover(attribute: str, wide: Ranges, inner: Constraints) -> bool:
    listed = _listed(attribute, inner)
    if listed is not None:
        return all(contains(wide, value[::-1]) for value in listed)
    return includes(wide, inner.ends.get(attribute, BACKWARDS.everything))


def _fits(wanted: Fits, inner: Constraints) -> bool:
    attribute, pattern, negated = wanted
    listed = _listed(attribute, inner)
    if listed is not None:
        return all(fits(pattern, value) is not negated for value in listed)
    if not negated:
        return any(pattern.covers(known) for known in _patterns(attribute, inner))
    if any(known.pattern.covers(pattern) for known in inner.fits if known.attribute == attribute and known.negated):
        return True
    begins, ends = inner.ranges.get(attribute), inner.ends.get(attribute)
    return (begins is not None and not intersect(begins, beginning_with(pattern.prefix))) or (
        ends is not None and not intersect(ends, beginning_with(pattern.suffix[::-1]))
    )


def _listed(attribute: str, inner: Constraints) -> list[str] | None:
    """The strings that the chosen value may be, where they are single ones."""
    ranges = inner.ranges.get(attribute)
    if ranges is None or not all(map(is_one_string, ranges)):
        return None
    return [one for one, _ in ranges]


def _patterns(attribute: str, inner: Constraints) -> Iterator[LikePattern]:
    """Patterns that the chosen value fits."""
    yield from (known.pattern for known in inner.fits if known.attribute == attribute and not known.negated)
    for form, ranges in (("starts", inner.ranges.get(attribute, ())), ("ends", inner.ends.get(attribute, ()))):
        if len(ranges) == 1 and isinstance(ranges[0][0], str) and beginning_with(ranges[0][0]) == ranges:
            yield pattern_of(form, ranges[0][0] if form == "starts" else ranges[0][0][::-1])


def _has_path(wanted: HasPath, inner: Constraints) -> bool:
    known = [one.path for one in inner.paths if one.attribute == wanted.attribute and one.negated is wanted.negated]
    if wanted.negated:
        return any(path_covers(one, wanted.path) for one in known)
    return any(path_covers(wanted.path, one) for one in known)


def _is_as_similar(wanted: IsSimilar, inner: Constraints) -> bool:
    """Of one text, a higher similarity is also a lower one."""
    known = [one for one in inner.similar if one._replace(least=wanted.least) == wanted]
    if wanted.negated:
        return any(one.least <= wanted.least for one in known)
    return any(one.least >= wanted.least for one in known)


def _lacks_words(absent: HasWords, inner: Constraints, catalog: Catalog) -> bool:
    return _satisfies(HasPattern(absent.attribute, pattern_of_words(absent), negated=True), inner, catalog)


def _relates(pair: tuple[str, str], wanted: int, inner: Constraints, catalog: Catalog) -> bool:
    known = inner.relations.get(pair)
    if known is not None and not known & ~wanted:
        return True
    space = attribute_space(pair[0], catalog)
    if not space.domain.kind.totally_ordered:
        return False  # the order of pre-order numbers is not the order of the hierarchy
    left, right = inner.ranges.get(pair[0]), inner.ranges.get(pair[1])
    return left is not None and right is not None and bool(_apart(left, right, space) & wanted)


def _apart(left: Ranges, right: Ranges, space: Space) -> int:
    """The relation that any key of the one has to any of the other, where there is only one."""
    if left[-1][1] <= right[0][0]:
        return LESS
    if right[-1][1] <= left[0][0]:
        return GREATER
    return SAME if left == right and space.is_point(left) else 0
