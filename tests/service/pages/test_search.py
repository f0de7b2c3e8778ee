"""The page to search stored events."""

import pytest
from lxml import html

from tests.service.conftest import Service, car, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.schema.growth import AppendValue
from tidings.service.pages import search_pages
from tidings.store import Grow

pytestmark = on_sqlite
SEARCH = "/pages/events"
LOT = {
    "id": "lot",
    "event_type": "auction",
    "attributes": {"title": "Oak desk", "price": 5, "category": "desk", "ends": "2026-11-20T23:26:44Z"},
}


@pytest.fixture
def searched(service: Service, ann: Visitor) -> Visitor:
    for year in range(1970, 2000):
        raw = car(f"e{year}", year=year) | {"time": f"{year}-03-01T00:00:00Z"}
        assert service.client.post("/v1/events", json=raw).status_code == 202
    assert service.client.post("/v1/events", json=LOT).status_code == 202
    return ann


def _links(visitor: Visitor, text: str) -> list[str]:
    return [one.get("href") for one in visitor.tree.iter("a") if one.text_content().strip() == text]


def test_search_page_subscribe_and_narrow(searched: Visitor) -> None:
    searched.get(SEARCH, filter="year < 1999", type="car")  # first, when there is time to compile
    assert "29 events found" in searched.text
    assert searched.text.index("year 1998") < searched.text.index("year 1997")
    shown = [one.get("href") for one in searched.tree.iter("a") if (one.get("class") or "") == "cover"]
    assert len(shown) == 25
    assert searched.client.get(shown[0]).status_code == 200
    (earlier,) = _links(searched, "Earlier")
    (subscribe,) = _links(searched, "Subscribe to this")
    bars = [one for one in searched.tree.iter("a") if (one.get("aria-label") or "").endswith(": 1 event")]
    assert (len(bars), bars[0].get("aria-label")) == (29, "1970: 1 event")
    searched.get(bars[0].get("href"))
    assert "1 event found" in searched.text
    searched.get(earlier)
    assert len([one for one in searched.tree.iter("a") if one.get("class") == "cover"]) == 4
    assert _links(searched, "Earlier") == []
    assert _links(searched, "Latest")
    searched.get(SEARCH)
    assert "31 events" in searched.text
    searched.get(subscribe)
    assert searched.tree.get_element_by_id("text").text == "event_type contains 'car' and year < 1999"


def test_by_time_alone(searched: Visitor) -> None:
    searched.get(SEARCH, filter="year = 1")
    assert "No event matches." in searched.text
    searched.get(SEARCH, since="1980-01-01T00:00", until="1990-01-01T00:00")
    assert "10 events found" in searched.text
    assert _links(searched, "Subscribe to this") == [], "there is no filter"
    assert searched.tree.get_element_by_id("since").get("value") == "1980-01-01T00:00"


def test_what_is_wrong_is_told_at_its_field(searched: Visitor) -> None:
    assert searched.get(SEARCH, filter="yaer < 3").status_code == 422
    assert searched.tree.get_element_by_id("text").get("aria-invalid") == "true"
    assert "did you mean 'year'" in searched.text
    assert searched.get(SEARCH, since="soon").status_code == 422
    assert "This is not a time." in searched.text
    assert searched.tree.get_element_by_id("since").get("value") == "soon"
    assert searched.get(SEARCH, type="none").status_code == 422


def test_a_search_that_takes_longer_comes_after_the_page(
    service: Service, searched: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_pages, "_SOON", 0.0)
    asked = {"filter": "year < 1975 and year < 1980", "type": "car"}
    page = searched.client.get(SEARCH, params=asked)
    assert page.status_code == 200
    assert "Searching …" in page.text
    assert 'class="cover"' not in page.text
    (place,) = html.fromstring(page.text).xpath("//*[@data-later]")
    piece = searched.client.get(place.get("data-later"))
    assert piece.status_code == 200
    assert "<form" not in piece.text
    assert "5 events found" in piece.text
    searched.get(SEARCH, **asked)
    assert "5 events found" in searched.text, "without scripts one follows the link"
    assert searched.client.get(SEARCH, params=asked | {"filter": "yaer < 3", "piece": "1"}).status_code == 422
    searched.get(SEARCH, filter="yaer < 3")
    assert searched.page.status_code == 422
    assert "did you mean 'year'" in searched.text


def test_only_whoever_may_read(service: Service, visitor: Visitor) -> None:
    visitor.get(SEARCH)
    assert visitor.page.url.path == "/pages/login"


def test_the_page_for_subscribing_says_which_events_it_counted(service: Service, searched: Visitor) -> None:
    searched.get("/pages/subscriptions/new")
    searched.submit("/pages/subscriptions/new", text="year < 1975", check="1")
    assert "Matches 5 of the last 30 events of type car." in searched.text
    assert [one for one in searched.tree.iter("svg") if one.getparent().get("class") == "times small"]
    searched.submit("/pages/subscriptions/new", text="event.source = ''", check="1")
    assert "Matches 31 of the last 31 events." in searched.text
    service.store.append([Grow(AppendValue("brand", "tesla"))])
    searched.submit("/pages/subscriptions/new", text="event_type contains car and price < 3", check="1")
    assert "There are no events yet of a type that it can match." in searched.text
