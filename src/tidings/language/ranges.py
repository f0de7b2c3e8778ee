"""One shape for all comparisons: the values that satisfy them, as ranges of an ordered space.

Every attribute has a space whose keys have an order and a successor: numbers and instants themselves,
strings by code point, enumerated values by their place in the list, categories by pre-order number, so that
a subtree is one range. A comparison with constants is a set of half-open ranges [low, high). Intersection,
complement and inclusion of such sets answer whether a filter can match, whether one covers another, and
where a matcher's index must look.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, assert_never

from tidings.schema.catalog import Catalog
from tidings.schema.domain import Domain, Kind
from tidings.schema.values import Instant, Value

Key = Any  # float, int or str; in one space all of one sort
Ranges = tuple[tuple[Key, Key], ...]  # ascending, disjoint, none touching the next

Bound = Literal["at", "after"] | None

# Where the keys that stand in the relation to a constant begin and end: at its key, right after it, or nowhere. `!=` is
# the complement of `=`. Arrays of comparisons read it too (`matching.boxes.bulk`).
INTERVALS: dict[str, tuple[Bound, Bound]] = {
    "=": ("at", "after"),
    "<": (None, "at"),
    "<=": (None, "after"),
    ">": ("after", None),
    ">=": ("at", None),
}


class _Top:
    """Greater than every string."""

    __slots__ = ()

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __ge__(self, other: object) -> bool:
        return True

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return other is self

    def __reduce__(self) -> str:
        return "TOP"  # the one object also after a way to a worker


TOP = _Top()
_LEAST_NUMBER = -sys.float_info.max
_FIRST_INSTANT = int(Instant.parse("0001-01-01T00:00:00Z"))
_LAST_INSTANT = int(Instant.parse("9999-12-31T23:59:59.999999Z"))


class Space(NamedTuple):
    """The keys of one domain: the least, the end, and the next greater key after one."""

    domain: Domain
    bottom: Key
    top: Key
    successor: Callable[[Key], Key]

    @property
    def everything(self) -> Ranges:
        return ((self.bottom, self.top),) if self.bottom < self.top else ()

    def key(self, value: Value) -> Key:
        """The key of a canonical value."""
        if self.domain.listed:
            return self.domain.ordinal(str(value))
        return value

    def point(self, value: Value) -> Ranges:
        key = self.key(value)
        return ((key, self.successor(key)),)

    def is_point(self, ranges: Ranges) -> bool:
        return len(ranges) == 1 and self.successor(ranges[0][0]) == ranges[0][1]


def space_of(domain: Domain) -> Space:
    match domain.stored_as:
        case Kind.NUMERIC:
            return Space(domain, _LEAST_NUMBER, math.inf, _next_float)
        case Kind.TIME:
            return Space(domain, _FIRST_INSTANT, _LAST_INSTANT + 1, _next_integer)
        case Kind.STRING | Kind.TEXT | Kind.PLACE | Kind.DOCUMENT:
            return Space(domain, "", TOP, _next_string)
        case Kind.ENUMERATED | Kind.HIERARCHICAL:
            return Space(domain, 0, len(domain.vocabulary), _next_integer)
        case _:
            assert_never(domain.stored_as)


AHEAD = Space(Domain("ahead", Kind.TIME), -(1 << 62), 1 << 62, lambda key: key + 1)  # of a time, from now


def attribute_space(attribute: str, catalog: Catalog) -> Space:
    domain = catalog.domain_of(attribute)
    assert domain is not None
    return space_of(domain)


def _next_float(key: float) -> float:
    return math.nextafter(key, math.inf)


def _next_integer(key: int) -> int:
    return key + 1


def _next_string(key: str) -> str:
    return key + "\0"


BACKWARDS = space_of(Domain("backwards", Kind.STRING))  # strings read from their end


def beginning_with(prefix: str) -> Ranges:
    """The strings that begin with it."""
    last = prefix.rstrip("\U0010ffff")
    if not last:
        return ((prefix, TOP),)
    following = ord(last[-1]) + 1
    return ((prefix, last[:-1] + chr(0xE000 if following == 0xD800 else following)),)  # no string has surrogates


def compared(operator: str, value: Value, space: Space) -> Ranges:
    """The values that compare so with a constant."""
    key = space.key(value)
    if operator == "!=":
        return complement(((key, space.successor(key)),), space)
    if operator != "=" and space.domain.kind is Kind.HIERARCHICAL:
        return _related(operator, str(value), space)
    begins, ends = INTERVALS[operator]
    low = space.bottom if begins is None else key if begins == "at" else space.successor(key)
    high = space.top if ends is None else key if ends == "at" else space.successor(key)
    return ((low, high),) if low < high else ()


def _related(operator: str, node: str, space: Space) -> Ranges:
    """Below a node is an interval of pre-order numbers; above it are single nodes."""
    hierarchy = space.domain.hierarchy
    start, stop = hierarchy.interval(node)
    match operator:
        case "<":
            return ((start + 1, stop),) if start + 1 < stop else ()
        case "<=":
            return ((start, stop),)
        case ">":
            above = hierarchy.ancestors(node)
        case _:
            above = (start, *hierarchy.ancestors(node))
    return union(((number, number + 1),) for number in above)


def is_one_string(one: tuple[Key, Key]) -> bool:
    low, high = one
    return isinstance(low, str) and high == _next_string(low)


def contains(ranges: Ranges, key: Key) -> bool:
    return any(low <= key < high for low, high in ranges)


def union(parts: Iterable[Ranges]) -> Ranges:
    merged: list[tuple[Key, Key]] = []
    for low, high in sorted((one for part in parts for one in part), key=lambda one: one[0]):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def intersect(left: Ranges, right: Ranges) -> Ranges:
    found = []
    i = j = 0
    while i < len(left) and j < len(right):
        low, high = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if low < high:
            found.append((low, high))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def intersect_all(parts: list[Ranges]) -> Ranges:
    """Of one or more; in pairs, since one after the other a thousand `!=` would take a million steps."""
    while len(parts) > 1:
        pairs = [intersect(left, right) for left, right in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def complement(ranges: Ranges, space: Space) -> Ranges:
    gaps = []
    low = space.bottom
    for start, stop in ranges:
        if low < start:
            gaps.append((low, start))
        low = stop
    if low < space.top:
        gaps.append((low, space.top))
    return tuple(gaps)


def includes(outer: Ranges, inner: Ranges) -> bool:
    """Whether every key of `inner` is in `outer`."""
    return intersect(outer, inner) == inner
