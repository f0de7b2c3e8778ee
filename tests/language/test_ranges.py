"""Ranges against brute force: a value is in a literal's ranges exactly where the naive matcher says so."""

import math
import pickle
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies.filters import RICH, pool
from tidings.language import Filter
from tidings.language.analysis.constraints import demand_of
from tidings.language.normal_form import Literal
from tidings.language.predicates.kind import HasMember, ValueIn
from tidings.language.ranges import (
    TOP,
    Ranges,
    Space,
    complement,
    includes,
    intersect,
    intersect_all,
    space_of,
    union,
)
from tidings.matching.naive import matches
from tidings.schema.values import Instant, Value

MORE: dict[str, tuple[Value, ...]] = {
    "price": (-1e308, 0.75, math.nextafter(1, 2), math.nextafter(5, 0), 5e-324, sys.float_info.max),
    "title": ("\0", "a\0", "a\0\0", "aa", "b\0\0", "it", "it's\0", "\U0010ffff", "z"),
    "made": tuple(Instant.parse(t) for t in ("2026-05-01T00:00:00.000001Z", "0001-01-01", "9999-12-31")),
}
FORMS = (
    *(f"{operator} {{0}}" for operator in ("=", "!=", "<", "<=", ">", ">=")),
    "in ({0}, {1})",
    "between {0} and {1}",
    "contains {0}",
)


def space(attribute: str) -> Space:
    domain = RICH.domain_of(attribute)
    assert domain is not None
    return space_of(domain)


def ranges_of(literal: Literal, where: Space) -> Ranges:
    """Where one value satisfies the literal. (`contains` as if the attribute had that one value.)"""
    demand = demand_of(literal, lambda _: where)
    if isinstance(demand, HasMember):
        point = where.point(demand.value)
        return complement(point, where) if demand.negated else point
    assert isinstance(demand, ValueIn)
    return demand.ranges


def has(ranges: Ranges, key: object) -> bool:
    return any(low <= key < high for low, high in ranges)


def written(value: Value) -> str:
    return f"'{value}'".replace("it's", "it''s") if isinstance(value, str | Instant) else repr(value)


def cases(attribute: str) -> list[str]:
    where = space(attribute)
    values = pool(where.domain)
    forms = [form for form in FORMS if where.domain.allows(form.split()[0]) or form[0] in "ibc"]
    if attribute == "colour":
        forms = [form for form in forms if form[0] not in "<>b"]
    if attribute == "title":
        forms = [form for form in forms if form[0] != "c"]
    pairs = [(written(one), written(other)) for one in values for other in values]
    texts = {f"{attribute} {form.format(*pair)}" for form in forms for pair in pairs}
    return sorted(texts | {f"not ({text})" for text in texts})


@pytest.mark.parametrize("attribute", ["price", "title", "colour", "size", "category", "made"])
def test_a_value_is_in_the_ranges_where_the_comparison_holds(attribute: str) -> None:
    where = space(attribute)
    for text in cases(attribute):
        ((literal,),) = Filter.parse(text, RICH).conjunctions
        ranges = ranges_of(literal, where)
        assert all(low < high for low, high in ranges)
        assert all(one[1] < other[0] for one, other in pairwise(ranges)), "touching"
        for value in (*pool(where.domain), *MORE.get(attribute, ())):
            expected = matches(literal, {attribute: (value,)}, RICH)
            assert has(ranges, where.key(value)) == expected, (text, value)


@pytest.mark.parametrize(
    ("attribute", "value", "point"),
    [
        ("price", 1, ((1, 1.0000000000000002),)),
        ("price", sys.float_info.max, ((sys.float_info.max, math.inf),)),
        ("title", "b", (("b", "b\0"),)),
        ("size", "L", ((2, 3),)),
        ("category", "table", ((1, 2),)),
        ("made", Instant(5), ((5, 6),)),
    ],
)
def test_a_point_ends_at_the_successor(attribute: str, value: Value, point: Ranges) -> None:
    assert space(attribute).point(value) == point
    assert space(attribute).is_point(point)
    assert not space(attribute).is_point(space(attribute).everything)
    assert not space(attribute).is_point(())


def test_a_range_of_numbers_from_one_integer_to_the_next_is_no_point() -> None:
    assert not space("price").is_point(((5, 6),))


def test_a_subtree_is_one_range_and_what_is_above_are_single_nodes() -> None:
    def ranges(text: str) -> Ranges:
        ((literal,),) = Filter.parse(text, RICH).conjunctions
        return ranges_of(literal, space("category"))

    assert ranges("category < 'table'") == ((2, 5),)
    assert ranges("category <= 'table'") == ((1, 5),)
    assert ranges("category > 'dining table'") == ((0, 2),)
    assert ranges("category > 'chair'") == ((0, 1),)
    assert ranges("category < 'desk'") == ()


def test_nothing_lies_below_the_least_or_above_the_greatest_value() -> None:
    for text in (
        "price < -1.7976931348623157e308",
        "price > 1.7976931348623157e308",
        "made < '0001-01-01'",
        "made > '9999-12-31T23:59:59.999999Z'",
        "title < ''",
        "size > XL",
    ):
        ((literal,),) = Filter.parse(text, RICH).conjunctions
        assert ranges_of(literal, space(text.split()[0])) == (), text


def test_the_top_is_above_every_text_also_after_pickling() -> None:
    top = pickle.loads(pickle.dumps(TOP))
    assert top is TOP
    assert TOP > "\U0010ffff" * 3
    assert not TOP < "a"
    assert not top < TOP
    assert top <= TOP
    assert top >= TOP
    everything = space("title").everything
    assert includes(everything, pickle.loads(pickle.dumps(everything)))


SMALL = Space(space("size").domain, 0, 12, lambda key: key + 1)
sets = st.sets(st.integers(0, 11))


def as_ranges(keys: set[int]) -> Ranges:
    return union(((key, key + 1),) for key in keys)


def keys(ranges: Ranges) -> set[int]:
    return {key for low, high in ranges for key in range(low, high)}


@given(sets, sets, sets)
def test_ranges_are_sets(one: set[int], other: set[int], third: set[int]) -> None:
    left, right = as_ranges(one), as_ranges(other)
    assert keys(left) == one
    assert intersect(left, right) == as_ranges(one & other)
    assert intersect_all([left, right, as_ranges(third)]) == as_ranges(one & other & third)
    assert union([left, right]) == as_ranges(one | other)
    assert complement(left, SMALL) == as_ranges(set(range(12)) - one)
    assert includes(left, right) == (other <= one)
