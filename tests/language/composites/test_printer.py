"""Canonical text: read again, it is the same composite."""

import pytest
from hypothesis import given

from tests.strategies.composites import AUCTIONS, composites
from tests.strategies.filters import trees
from tidings.language import Filter
from tidings.language.composites.bound import BoundComposite
from tidings.language.composites.parser import parse
from tidings.language.composites.printer import print_composite
from tidings.language.composites.tree import Composite, Leaf
from tidings.language.tree import Comparison, Node

BIDS = [
    Filter.parse(text, AUCTIONS).tree for text in ("price > 1", "event_type contains bid", "bidder = 'a' or price < 3")
]


@given(composites(BIDS, attributes=("price",), by=("auction", "bidder"), time_leaves=True))
def test_read_again_it_is_the_same(composite: Composite) -> None:
    text = print_composite(composite)
    assert parse(text) == composite
    assert print_composite(parse(text)) == text


@given(composites(BIDS, attributes=("price",)))
def test_bound_again_it_is_the_same(composite: Composite) -> None:
    bound = BoundComposite.parse(print_composite(composite), AUCTIONS)
    assert bound.composite == composite
    assert BoundComposite.parse(bound.text, AUCTIONS) == bound


@given(trees())
def test_any_filter_may_be_a_leaf(tree: Node) -> None:
    assert parse(print_composite(Composite(Leaf(tree, "x")))) == Composite(Leaf(tree, "x"))


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("[p=1] Before [p=2] WITHIN 120 s", "[p = 1] before [p = 2] within 2 min"),
        ("[p=1] together with [p=2]", "[p = 1] and [p = 2] within 1 s"),
        ("[p=1]{3} within 1 h", "[p = 1] before [p = 1] before [p = 1] within 1 h"),
        ("[p=1] and [p=2] within 1 s select all, all", "[p = 1] and [p = 2] within 1 s"),
        ("[p=1] and [p=2] within 1 s select 1, 2", "[p = 1] and [p = 2] within 1 s select first, 2"),
        (
            "(([p=1] before [p=2] within 1 s)) before [p=3] within 1 s",
            "[p = 1] before [p = 2] before [p = 3] within 1 s",
        ),
        (
            "([p=1] before [p=2] within 1 s) before [p=3] within 2 s",
            "([p = 1] before [p = 2] within 1 s) before [p = 3] within 2 s",
        ),
        ("[p=1] or ([p=2] or [p=3])", "[p = 1] or ([p = 2] or [p = 3])"),
        (
            "([p=1] as a before [p=2] as b within 1 s) before [p=3] within 1 s where b.p > a.p",
            "([p = 1] as a before [p = 2] as b within 1 s) before [p = 3] within 1 s where b.p > a.p",
        ),
        (
            '[p=1] as a and [p=2] as b within 1 s where a."zip code" = b.event.id by "zip code" '
            "start '2026-05-01' for 7 day",
            '[p = 1] as a and [p = 2] as b within 1 s where a."zip code" = b.event.id by "zip code" '
            "start '2026-05-01T00:00:00Z' for 1 week",
        ),
        ("[every day at '9:00']", "[every day at '09:00' in 'UTC']"),
        ("[every 90 s] as tick", "[every 90 s] as tick"),
    ],
)
def test_canonical_text(written: str, canonical: str) -> None:
    assert print_composite(parse(written)) == canonical
    assert parse(canonical) == parse(written)


def test_the_step_of_a_condition_stays() -> None:
    """In parentheses it is tested at the second step, in a chain at the first."""
    later = parse("([p=1] as a before [p=2] as b within 1 s) before [p=3] within 1 s where b.p > a.p")
    sooner = parse("[p=1] as a before [p=2] as b before [p=3] within 1 s where b.p > a.p")
    assert later != sooner
    assert later.tree.where  # type: ignore[union-attr]
    assert sooner.tree.left.where  # type: ignore[union-attr]


def test_a_leaf_keeps_its_own_value() -> None:
    composite = Composite(Leaf(Comparison("p", "=", "it's ]")))
    assert parse(print_composite(composite)) == composite
