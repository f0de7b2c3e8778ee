"""Which event types a filter can match."""

import pytest

from tidings.language import Filter
from tidings.matching.reach import Reach
from tidings.schema import Catalog

CATALOG = Catalog.from_dict(
    {
        "domains": [{"name": "number", "kind": "numeric"}],
        "attributes": [{"name": name, "domain": "number"} for name in ("price", "year", "amount")],
        "event_types": [
            {"name": "car", "attributes": [{"name": "price"}, {"name": "year"}]},
            {"name": "table", "attributes": [{"name": "price"}]},
            {"name": "bid", "attributes": [{"name": "amount"}]},
        ],
    }
)


@pytest.mark.parametrize(
    ("filter", "types"),
    [
        ("price < 3", "car table"),
        ("price < 3 and year > 1990", "car"),
        ("price < 3 and amount > 1", ""),
        ("price < 3 or amount > 1", "car table bid"),
        ("event_type contains bid", "bid"),
        ("event_type = bid and price < 3", ""),
        ("event_type in (car, bid) and not (event_type contains bid)", "car"),
        ("not (event_type contains bid)", "car table"),
        ("not (price exists)", "car table bid"),
        ("event.id = 'e1'", "car table bid"),
    ],
)
def test_types_that_can_match(filter: str, types: str) -> None:
    assert Reach(Filter.parse(filter, CATALOG), CATALOG).event_types == tuple(types.split())


def test_an_event_of_two_types_binds_the_attributes_of_both() -> None:
    reach = Reach(Filter.parse("price < 3 and amount > 1", CATALOG), CATALOG)
    assert reach.admits(("car", "bid"))
    assert not reach.admits(("car", "table"))
    both = Reach(Filter.parse("event_type contains car and event_type contains bid", CATALOG), CATALOG)
    assert (both.event_types, both.admits(("bid", "car"))) == ((), True)


def test_a_type_that_is_not_known_yet_may_match() -> None:
    assert Reach(Filter.parse("price < 3", CATALOG), CATALOG).admits(("brand new",))
