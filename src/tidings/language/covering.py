"""Covering: f covers g when every event that matches g matches f.

Sound always; complete for conjunctions of comparisons with constants. It speaks of the catalog it is given:
an enumeration that grows may end a covering (`brand != 'opel'` and all the other brands of today).
"""

from __future__ import annotations

from tidings.errors import expect
from tidings.language.constraints import Constraints, constraints_of
from tidings.language.filter import Filter
from tidings.language.predicates.kind import HasWords
from tidings.language.ranges import AHEAD, Ranges, Space, attribute_space, includes, intersect
from tidings.language.relations import GREATER, LESS, SAME
from tidings.language.satisfiability import implies_words, impossible
from tidings.language.words import words_of
from tidings.schema.catalog import Catalog
from tidings.schema.values import Value


def covers(wider: Filter, narrower: Filter, catalog: Catalog) -> bool:
    """Whether each alternative of the narrower filter is covered by one alternative of the wider."""
    for name, filter in (("wider", wider), ("narrower", narrower)):
        expect(filter, Filter, "covers", name, "a Filter (Filter.parse takes a text)")
    expect(catalog, Catalog, "covers", "catalog", "a tidings.Schema")
    outer = [constraints_of(conjunction, catalog) for conjunction in wider.conjunctions]
    for conjunction in narrower.conjunctions:
        inner = constraints_of(conjunction, catalog)
        if not impossible(inner) and not any(_covers(one, inner, catalog) for one in outer):
            return False
    return True


def _covers(outer: Constraints, inner: Constraints, catalog: Catalog) -> bool:
    return (
        all(inner.binds(attribute) for attribute in outer.bound)
        and outer.unbound <= inner.unbound
        and all(_range_covers(attribute, outer, inner, catalog) for attribute in outer.ranges)
        and all(_has_member(attribute, value, inner, catalog) for attribute, value in outer.members)
        and outer.strangers <= inner.strangers
        and all(_has_words(wanted, inner, catalog) for wanted in outer.words)
        and all(_lacks_words(absent, inner) for absent in outer.absent_words)
        and all(literal in inner.verified for literal in outer.verified)
        and outer.regions <= inner.regions
        and all(includes(outer.ahead[name], inner.ahead.get(name, AHEAD.everything)) for name in outer.ahead)
        and all(key in inner.linear and not inner.linear[key] & ~bits for key, bits in outer.linear.items())
        and all(_relates(pair, bits, inner, catalog) for pair, bits in outer.relations.items())
    )


def _range_covers(attribute: str, outer: Constraints, inner: Constraints, catalog: Catalog) -> bool:
    space = attribute_space(attribute, catalog)
    wide = outer.ranges[attribute]
    if includes(wide, inner.ranges.get(attribute, space.everything)):
        return True
    if outer.ties(attribute):
        return False  # the value that is a member may not be the one that the other demand was shown for
    return any(bool(intersect(wide, space.point(value))) for name, value in inner.members if name == attribute)


def _has_member(attribute: str, value: Value, inner: Constraints, catalog: Catalog) -> bool:
    if (attribute, value) in inner.members:
        return True
    return inner.ranges.get(attribute) == attribute_space(attribute, catalog).point(value)


def _has_words(wanted: HasWords, inner: Constraints, catalog: Catalog) -> bool:
    same = [words for words in inner.words if words.attribute == wanted.attribute]
    if any(implies_words(words, wanted) for words in same):
        return True
    ranges = inner.ranges.get(wanted.attribute)
    if ranges is None or not attribute_space(wanted.attribute, catalog).is_point(ranges):
        return False
    present = HasWords(wanted.attribute, "all", tuple(words_of(ranges[0][0])))
    return implies_words(present, wanted)


def _lacks_words(absent: HasWords, inner: Constraints) -> bool:
    return any(words.attribute == absent.attribute and implies_words(absent, words) for words in inner.absent_words)


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
