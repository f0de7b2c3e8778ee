"""The demo's filters: legal, satisfiable, not noisy, and between them all that the language can say."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tidings.demo.assignment import Assignment
from tidings.demo.flying import same_day
from tidings.demo.saleroom import saleroom_schema
from tidings.demo.standing import Moment
from tidings.demo.vocabulary import MAPPING, auction_mapping, auction_schema
from tidings.demo.wishes import ANN, DEMO, WISHES, Wish
from tidings.events import Event, validate
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.inference.schema_changes import changes
from tidings.feeds.records.records import Content, read_records
from tidings.feeds.samples.auction_site import AuctionSite
from tidings.feeds.samples.flights import events as flight_events
from tidings.feeds.samples.flights import schema as flight_schema
from tidings.language import Filter
from tidings.language.analysis.satisfiability import never_matches
from tidings.language.tree import (
    And,
    AttributeComparison,
    Between,
    Comparison,
    Contains,
    ContainsWords,
    Exists,
    In,
    Node,
    Not,
    Or,
)
from tidings.matching.explain import explain
from tidings.notifying.outbox.rhythm import read_rhythm
from tidings.schema import Catalog
from tidings.schema.growth import grow

AT = Moment(5_900_000_000, datetime.now(UTC))
CARS = 3_000


def grown(*wanted: Catalog) -> Catalog:
    """As the feeding process grows it."""
    catalog = Catalog()
    for one in wanted:
        for change in changes(one, catalog):
            catalog = grow(catalog, change)
        assert changes(one, catalog) == []
    return catalog


CATALOG = grown(auction_schema(), flight_schema(), saleroom_schema())
FILTERS = [wish for wish in WISHES if not wish.composite]  # of composites: test_saleroom


def filter_of(wish: Wish) -> Filter:
    return Filter.parse(AT.filter_of(wish), CATALOG)


@pytest.mark.parametrize("wish", FILTERS, ids=lambda wish: wish.name)
def test_each_filter_can_match_and_says_what_is_meant(wish: Wish) -> None:
    made = filter_of(wish)
    assert made.warnings == ()
    assert made.conjunctions
    assert not any(never_matches(one, CATALOG) for one in made.conjunctions)


@pytest.fixture(scope="module")
def cars() -> list[Event]:
    """As the feed makes them of the site's pages."""
    site = AuctionSite(0, rate=0, at_start=AT.auction)
    maker = EventMaker(auction_mapping(site.url, 1.0), CATALOG)
    made = []
    for newest in range(AT.auction, AT.auction - CARS, -100):
        content = Content("cars", site.cars_page(newest).encode(), "utf-8")
        for record in read_records(content, maker.mapping.layout, maker.mapping.paths):
            one = maker.make(record)
            assert one.errors == ()
            made.append(validate(one.raw, CATALOG))
    site._server.server_close()
    return made


@pytest.fixture(scope="module")
def flights() -> list[Event]:
    now = str(AT.now.isoformat())
    return [validate({**raw, "time": now}, CATALOG) for _, raw in islice(flight_events(), 0, None, 60)]


@pytest.mark.slow
def test_each_filter_matches_something_and_none_matches_much(cars: list[Event], flights: list[Event]) -> None:
    for wish in FILTERS:
        pool = cars if wish.about == "cars" else flights
        made = filter_of(wish)
        found = sum(explain(made, event, CATALOG).matches for event in pool)
        assert 0 < found < len(pool) / 8, (wish.name, found)
        if wish.hook == "gone":
            assert found == 1, "what a disabled channel is owed would keep old events for ever"
        if "rate" in wish.rhythm:
            a_second = found / len(pool) * 5  # of either there are fewer
            allowed = wish.rhythm["rate"]
            assert 2 * a_second < allowed["count"] / allowed["seconds"], "what is owed would only grow"


def predicates(node: Node) -> Iterator[Node]:
    match node:
        case And(terms) | Or(terms):
            yield node
            for term in terms:
                yield from predicates(term)
        case Not(term):
            yield node
            yield from predicates(term)
        case _:
            yield node


def test_the_whole_language_occurs() -> None:
    found = [one for wish in FILTERS for one in predicates(filter_of(wish).tree)]
    kinds = {type(one) for one in found}
    assert kinds >= {And, Or, Not, Comparison, AttributeComparison, Between, In, Contains, ContainsWords, Exists}
    assert {one.operator for one in found if isinstance(one, Comparison)} >= {"=", "!=", "<", "<=", ">", ">="}
    assert {one.quantifier for one in found if isinstance(one, ContainsWords)} == {"any", "all"}
    asked = {
        str(domain.kind)
        for one in found
        if isinstance(one, Comparison) and (domain := CATALOG.domain_of(one.attribute)) is not None
    }
    assert asked >= {"numeric", "string", "enumerated", "hierarchical", "time"}
    texts = " ".join(wish.filter for wish in WISHES)
    for word in (
        "under ",
        "not in ",
        "not between ",
        "event.source ",
        "event.id ",
        "event.time ",
        "event_type contains",
    ):
        assert word in texts


def test_all_deliveries_occur() -> None:
    assert {wish.hook for wish in WISHES} == {"", "inbox", "flaky", "gone"}
    assert {member for wish in WISHES for member in wish.rhythm} == {"digest", "rate", "quiet"}
    for wish in WISHES:
        read_rhythm(wish.rhythm)
        assert wish.hook or not wish.rhythm, "what is only stored has no rhythm"
    assert sum(wish.paused for wish in WISHES) == 1
    assert sum(wish.ends for wish in WISHES) == 1
    assert {wish.owner for wish in WISHES} == {DEMO, ANN}
    assert len({wish.name for wish in WISHES}) == len(WISHES) >= 36


def test_the_mapping_in_the_package_is_the_example() -> None:
    example = Path(__file__).parents[2] / "examples" / "feeds" / "auctions.toml"
    assert MAPPING.read_bytes() == example.read_bytes()


def test_flights_begin_in_the_morning_of_the_same_day() -> None:
    def on(text: str) -> str:
        return str(same_day(datetime.fromisoformat(text).timestamp()))[:13]

    assert on("2026-11-15T23:59:00+00:00") == "2013-11-15T10"
    assert on("2028-12-31T00:00:00+00:00") == "2013-12-31T10"


def test_an_assignment_survives_the_way() -> None:
    given: dict[str, Any] = {"url": "http://127.0.0.1:1", "data": "d", "publisher": "tid_p"}
    sent = Assignment(**given, people={"demo": "tid_d"}, rate=3.0, speed=360.0, webhooks=True, began=time.time())
    assert Assignment.read(sent.written()) == sent
    assert "tid_" not in repr(sent)
