"""One choice of values, decided in bounded time: the same answer as trying every combination."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies.filters import catalogs, events, filter_texts
from tidings.language import Filter
from tidings.matching import choice, naive
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Kind

TREE = Hierarchy.from_tree({"a": {"b": {"c": {}, "d": {}}, "e": {}}, "f": {"g": {}}})
NAMES = tuple("pqrstuv")
ATTRIBUTES = tuple(Attribute(name, "number") for name in NAMES) + tuple(Attribute(f"h{name}", "node") for name in NAMES)
RELATED = Catalog(
    (Domain("number", Kind.NUMERIC), Domain("node", Kind.HIERARCHICAL, hierarchy=TREE)),
    ATTRIBUTES,
    (EventType("any", tuple(AttributeUse(one.name, mandatory=False, unique=False) for one in ATTRIBUTES)),),
)


@st.composite
def related_texts(draw: st.DrawFn) -> str:
    """Comparisons between attributes that form trees and triangles, in chains and side by side, with constants among
    them."""
    prefix = draw(st.sampled_from(("", "h")))
    operators = st.sampled_from(("=", "!=", "<", "<=", ">", ">="))
    names = [prefix + name for name in draw(st.permutations(NAMES))]
    terms, known = [], names[:1]
    while len(known) < len(names) and draw(st.integers(0, 3)):
        joined = draw(st.sampled_from(known))
        new = names[len(known) : len(known) + draw(st.integers(1, 2))]
        pairs = [(joined, new[0])] if len(new) == 1 else [(joined, new[0]), (new[0], new[1]), (joined, new[1])]
        for pair in pairs:
            left, right = draw(st.permutations(pair))
            term = f'{left} {draw(operators)} "{right}"'
            terms.append(f"not ({term})" if draw(st.booleans()) else term)
        known += new
    values = st.sampled_from(("'b'", "'c'", "'f'") if prefix else ("0", "2", "3"))
    for name in draw(st.lists(st.sampled_from(known), max_size=2)):
        terms.append(f"{name} {draw(operators)} {draw(values)}")
    return " and ".join(terms) or f"{names[0]} exists"


@st.composite
def related_bindings(draw: st.DrawFn) -> dict[str, tuple[object, ...]]:
    values = {"": st.integers(0, 4), "h": st.sampled_from(TREE.nodes)}
    prefixes = draw(st.sampled_from(("", "h")))
    return {
        prefixes + name: tuple(draw(st.lists(values[prefixes], unique=True, min_size=1, max_size=3))) for name in NAMES
    }


@settings(max_examples=300, deadline=None)
@given(text=related_texts(), event=related_bindings())
def test_attributes_compared_in_trees_and_triangles(text: str, event: dict[str, tuple[object, ...]]) -> None:
    filter = Filter.parse(text, RELATED)
    assert choice.matches(filter.conjunctions, event, RELATED) == naive.matches(filter.tree, event, RELATED)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_filter(data: st.DataObject) -> None:
    catalog = data.draw(catalogs())
    filter = Filter.parse(data.draw(filter_texts(catalog)), catalog)
    event = data.draw(events(catalog)).bindings()
    assert choice.matches(filter.conjunctions, event, catalog) == naive.matches(filter.tree, event, catalog)


@pytest.mark.parametrize(
    ("text", "event", "expected"),
    [
        ("p < q", {"p": (3,), "q": (1, 5)}, True),
        ("p > q", {"p": (3,), "q": (1, 5)}, True),
        ("p > q", {"p": (1, 5), "q": (3,)}, True),
        ("p < q", {"p": (5,), "q": (1, 5)}, False),
        ('q > "p"', {"p": (5,), "q": (1, 5)}, False),
        ("hp < hq", {"hp": ("e",), "hq": ("b",)}, False),  # b's subtree ends where e begins
        ("hp < hq", {"hp": ("e",), "hq": ("b", "a")}, True),
        ("hp > hq", {"hp": ("b",), "hq": ("e", "f")}, False),
    ],
)
def test_one_value_goes_with_one_of_several(text: str, event: dict[str, tuple[object, ...]], expected: bool) -> None:
    filter = Filter.parse(text, RELATED)
    assert choice.matches(filter.conjunctions, event, RELATED) is expected
    assert naive.matches(filter.tree, event, RELATED) is expected
