"""Comparisons between attributes may form cycles of three attributes, not of more."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.language import Filter
from tidings.language.errors import ComparisonCycle
from tidings.language.normal_form import NO_LIMIT
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Kind

NAMES = tuple("abcdefgh")
CATALOG = Catalog(
    (Domain("n", Kind.NUMERIC), Domain("h", Kind.HIERARCHICAL, hierarchy=Hierarchy(("x", "y"), (-1, 0)))),
    (*(Attribute(name, "n") for name in NAMES), *(Attribute(f"h{name}", "h") for name in NAMES)),
    (EventType("t", tuple(AttributeUse(name, mandatory=False) for name in NAMES)),),
)


@pytest.mark.parametrize(
    "text",
    [
        "a < b and b < c and c < a",
        "a < b and b < a and a != b and b <= a",  # one edge
        "a < a and b < b and c < c and d < d",
        "a < b and b < c and c < d and d < e and a < f and a < g",  # a tree
        "a < b and b < c and c < a and c < d and d < e and e < c",  # two triangles that share c
        "a < b and b < c and c < a and a < d and d < e and e < f and f < d",
        "a < b and b < c and (c < d or d < a)",
        "a < b and b < c and c < d and d > 1 and a exists",
    ],
)
def test_cycles_of_three_attributes_and_forests_are_accepted(text: str) -> None:
    assert Filter.parse(text, CATALOG).conjunctions


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a < b and b < c and c < d and d < a", "abcd"),
        ("e > 1 and a < b and b < c and c < d and d < e and e < a", "abcde"),
        ("a < b and b < c and c < a and b < d and d < c", "abcd"),  # two triangles that share an edge
        ("a < b and (b < c or b > 5) and c < d and d < a", "abcd"),
        ("not (a >= b or b >= c or c >= d or d >= a)", "abcd"),
        ("e < f and f < g and g < e and a < b and b < c and c < d and d < a and a < e", "abcd"),
    ],
)
def test_a_longer_cycle_is_refused_with_the_attributes_in_it(text: str, names: str) -> None:
    with pytest.raises(ComparisonCycle) as caught:
        Filter.parse(text, CATALOG)
    assert caught.value.args[2] == tuple(names)
    listed = ", ".join(f"'{name}'" for name in names[:-1]) + f" and '{names[-1]}'"
    assert f"the comparisons of {listed} with each other form a cycle; at most 3" in str(caught.value)
    assert "remove one of these comparisons" in str(caught.value)
    assert caught.value.text == text
    assert text[caught.value.offset] == "a"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a < b + 1 and b < c and c < a", "abc"),
        ("not (c >= 2 * a or a >= b or b >= c)", "cab"),
        ("d < a - 1 and a < b and b < c and c < 2 * a", "abc"),
        ("a < b and b < c and c < a and d < e and e < f and (f > 1 or f < d - 1)", "def"),
    ],
)
def test_a_cycle_with_arithmetic_is_refused(text: str, names: str) -> None:
    with pytest.raises(ComparisonCycle) as caught:
        Filter.parse(text, CATALOG)
    assert caught.value.args[2] == tuple(names)
    assert "in a cycle, no comparison may have '*', '+' or '-', so remove one of these comparisons" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "a < b + 1 and b < 2 * a and a != b and b < c - 1 and c < d + 1",  # a path
        "a < b and b < c and c < a and c < d + 1 and e > 2 * a",  # beside a cycle
        "a < 2 * a and a < b and b < c and c < a",
    ],
)
def test_arithmetic_outside_cycles_is_accepted(text: str) -> None:
    assert Filter.parse(text, CATALOG).conjunctions


def test_negated_comparisons_of_categories_count() -> None:
    text = "not (ha < hb) and not (hb < hc) and not (hc < hd) and not (hd < ha)"
    with pytest.raises(ComparisonCycle):
        Filter.parse(text, CATALOG)


def test_what_was_accepted_once_is_read_again() -> None:
    text = "a < b and b < c and c < d and d < a"
    assert Filter.parse(text, CATALOG, NO_LIMIT).text.startswith('a < "b"')


def test_a_long_path_is_no_matter() -> None:
    names = [f"n{number}" for number in range(5_000)]
    catalog = Catalog((Domain("n", Kind.NUMERIC),), tuple(Attribute(name, "n") for name in names))
    path = " and ".join(f"{one} < {other}" for one, other in pairwise(names))
    assert Filter.parse(path, catalog)
    with pytest.raises(ComparisonCycle):
        Filter.parse(f"{path} and {names[-1]} < {names[0]}", catalog)


@given(st.lists(st.sampled_from(list(combinations(NAMES[:6], 2))), unique=True, min_size=1, max_size=8))
def test_refused_exactly_where_some_cycle_has_more_than_three_attributes(edges: list[tuple[str, str]]) -> None:
    text = " and ".join(f"{one} < {other}" for one, other in edges)
    try:
        Filter.parse(text, CATALOG)
        refused = False
    except ComparisonCycle:
        refused = True
    assert refused == any(len(cycle) > 3 for cycle in simple_cycles(edges))


def simple_cycles(edges: list[tuple[str, str]]) -> list[list[str]]:
    """By brute force."""
    near: dict[str, set[str]] = {}
    for one, other in edges:
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    found = []
    paths = [[name] for name in near]
    while paths:
        path = paths.pop()
        for other in near[path[-1]]:
            if other == path[0] and len(path) > 2:
                found.append(path)
            elif other not in path:
                paths.append([*path, other])
    return found
