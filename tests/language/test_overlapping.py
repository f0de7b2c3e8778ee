from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.language.test_covering import CONSTANTS, all_events, conjunctions
from tests.strategies.filters import RICH, catalogs, events, filter_texts
from tidings.language import Filter, overlaps
from tidings.matching.naive import matches
from tidings.schema import Catalog


def overlapping(left: str, right: str) -> bool:
    one, other = (Filter.parse(text, RICH) for text in (left, right))
    assert overlaps(one, other, RICH) == overlaps(other, one, RICH)
    return overlaps(one, other, RICH)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("price < 10", "price > 20"),
        ("price < 10 and colour = blue", "colour = 'red'"),
        ("price < 10 or price > 20", "price between 11 and 19"),
        ("category under vehicle", "category under furniture"),
        ("price exists", "not (price exists)"),
        ("paint contains blue", "paint not contains blue"),  # of all values, whichever is chosen
        ("paint = blue", "not (paint exists)"),
        ("price < budget", "price > budget"),
        ("price < 1 and price > 1", "price = 1"),  # the first matches nothing
        ("title = 'a'", "title != 'a'"),
    ],
)
def test_filters_that_exclude_each_other(left: str, right: str) -> None:
    assert not overlapping(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("price < 10", "price > 5"),
        ("price < 10", "colour = blue"),
        ("price < 10 or price > 20", "price = 25"),
        ("category under vehicle", "category = 'mini'"),
        ("prices < 10", "prices > 20"),  # one event may have both
        ("paint = blue", "paint = 'red'"),
        ("made < now", "made > now + 1 h"),  # asked at different times
    ],
)
def test_filters_that_may_match_one_event(left: str, right: str) -> None:
    assert overlapping(left, right)


@given(catalogs(), st.data())
def test_no_is_never_wrong(catalog: Catalog, data: st.DataObject) -> None:
    filters = [Filter.parse(data.draw(filter_texts(catalog, most=3)), catalog) for _ in range(3)]
    found = [event.bindings() for event in data.draw(st.lists(events(catalog), min_size=1, max_size=4))]
    for left, right in product(filters, filters):
        if not overlaps(left, right, catalog):
            for event in found:
                both = matches(left.tree, event, catalog) and matches(right.tree, event, catalog)
                assert not both, (left.text, right.text)


@given(st.lists(st.sampled_from(sorted(CONSTANTS)), min_size=1, max_size=2, unique=True), st.data())
def test_yes_is_right_for_comparisons_with_constants(attributes: list[str], data: st.DataObject) -> None:
    left, right = (Filter.parse(data.draw(conjunctions(attributes)), RICH) for _ in range(2))
    truth = any(
        matches(left.tree, event, RICH) and matches(right.tree, event, RICH) for event in all_events(attributes)
    )
    if truth:
        assert overlaps(left, right, RICH), (left.text, right.text)
    elif "event_type" not in attributes:  # an event may have several types
        assert not overlaps(left, right, RICH), (left.text, right.text)
