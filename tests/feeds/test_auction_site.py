"""The auction site that ships, scraped from its first page to the server's journal."""

from collections import Counter
from datetime import UTC, datetime

import httpx

from tests.feeds.conftest import EXAMPLES
from tidings.client import Client
from tidings.feeds import Feed, propose, read_mapping
from tidings.feeds.inference.schema_changes import changes
from tidings.feeds.mapping.mapping import Mapping, Origin
from tidings.feeds.records.records import read_records
from tidings.feeds.samples.auction_items import MODELS, item
from tidings.feeds.samples.auction_site import MOST_A_SECOND, AuctionSite, newest_at
from tidings.feeds.sources.content import Content

MOMENT = datetime(2026, 5, 1, tzinfo=UTC)


def test_the_same_seed_makes_the_same_cars_and_another_others() -> None:
    cars = [item(7, number, MOMENT) for number in range(200)]
    assert cars == [item(7, number, MOMENT) for number in range(200)]
    assert cars != [item(8, number, MOMENT) for number in range(200)]


def test_few_brands_sell_most_and_most_cars_are_cheap() -> None:
    cars = [item(7, number, MOMENT) for number in range(4_000)]
    brands = Counter(car.brand for car in cars)
    assert len(brands) == len(MODELS)
    assert sum(count for _, count in brands.most_common(5)) > 1_800
    prices = sorted(car.price for car in cars)
    assert prices[2_000] < sum(prices) / 4_000 < prices[3_400]
    assert all(1955 <= car.year <= 2026 and car.model in MODELS[car.brand] and car.ends > car.listed for car in cars)
    assert any(len(car.paint) == 2 for car in cars)


def test_pages_change_as_auctions_are_put_up() -> None:
    now = [1_777_629_600.0]
    with AuctionSite(0, rate=2.0, at_start=10, clock=lambda: now[0]) as site, httpx.Client(base_url=site.url) as http:
        first = http.get("/cars")
        assert first.text.count('class="item"') == 10
        assert http.get("/cars", headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
        now[0] += 100
        assert http.get("/cars", headers={"If-None-Match": first.headers["ETag"]}).text.count('class="item"') == 100
        assert 'data-number="110"' in http.get("/cars?newest=110").text
        assert http.get("/cars?newest=nonsense").status_code == 200
        assert http.get("/elsewhere").status_code == 404
        assert "Citroën" in http.get("/").text


def test_numbers_go_on_after_a_restart() -> None:
    now = 1_800_000_000.0
    with AuctionSite(0, rate=MOST_A_SECOND, at_start=newest_at(now), clock=lambda: now) as site:
        assert site.count < newest_at(now + 1.5) - 100
        assert len(str(site.count)) < 12  # as long as the site can be asked for


def example(site: AuctionSite) -> Mapping:
    from dataclasses import replace

    mapping = read_mapping(EXAMPLES / "auctions.toml")
    return replace(mapping, origin=Origin(url=f"{site.url}/cars", every=0.1))


def test_the_example_builds_its_schema_and_publishes(ann: Client) -> None:
    now = [datetime.now(UTC).timestamp() - 3_600]
    with AuctionSite(0, rate=1.0, clock=lambda: now[0]) as site:
        mapping = example(site)
        page = Content("page", site.cars_page(20).encode())
        proposal = propose(mapping, read_records(page, mapping.layout, mapping.paths), ann.schema())
        for change in changes(proposal.catalog, ann.schema()):
            ann.grow(change)
        told = Feed(mapping, ann).once()
        assert (told.published, told.refused) == (100, 0)
        assert told.appended > 0  # brands and models that were not among the first twenty
        now[0] += 30
        told = Feed(mapping, ann).once()
        assert (told.published, told.duplicates) == (30, 70)
    car = site.item(100)
    (found,) = [one.event for one in ann.query("event.id = '100'")]
    assert found["attributes"]["headline"] == car.title
    assert found["attributes"]["asked"] == car.price
    domain = ann.schema().domain("model")
    assert domain is not None
    assert domain.hierarchy.ancestors(f"{car.brand} {car.model}") == (domain.hierarchy.number(car.brand),)
    assert len(list(ann.query(f"model under '{car.brand}'"))) == len(list(ann.query(f"make = '{car.brand}'"))) > 0
