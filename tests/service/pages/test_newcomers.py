"""What a newcomer sees: what this is, events as they come, example filters with what they found, how to begin."""

from dataclasses import replace
from typing import Any

import pytest

from tests.service.conftest import PASSWORD, Service, car, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.events import Event, validate
from tidings.schema import Catalog
from tidings.service.pages.parts import showcase
from tidings.service.pages.parts.showcase import Showcase
from tidings.service.workers.status import ChildStatus
from tidings.settings import Settings

pytestmark = on_sqlite


def _fresh(service: Service) -> None:
    service.app.state.showcase = Showcase(service.gateway, service.app.state.ends)


def test_one_sentence_events_examples_and_how_to_begin(service: Service, visitor: Visitor) -> None:
    visitor.get("/")
    assert (
        "Tidings matches every event the moment it is published, notifies you, and says why it matched." in visitor.text
    )
    assert "No events yet" in visitor.text
    service.client.post("/v1/events", json=[car(f"e{number}", year=1960 + number) for number in range(30)])
    service.client.post("/v1/subscriptions", json={"filter": "year = 1977"})
    _fresh(service)
    visitor.get("/")
    assert "1989" in visitor.text, "the newest event"
    assert "For example brand = 'mini' and year >= 1975" in visitor.text, "of what was published"
    filters = [node.text_content() for node in visitor.tree.iter("pre") if node.get("class") == "filter"]
    assert filters[0] == "brand = 'mini'", "simple ones first"
    assert "matches 30 of the last 30 events" in visitor.text
    assert "Latest match, just now" in visitor.text.replace("1 second ago", "just now")
    shown = [node.text_content() for node in visitor.tree.iter("div") if node.get("class") == "sample"]
    assert len(shown) == 3
    assert len(set(shown)) == 3, "each example shows another event"
    assert "year = 1977" not in visitor.page.text, "nobody's subscriptions are shown"
    steps = [visitor.page.text.index(words) for words in ("1. Create account", "2. Subscribe with", "3. Get notified")]
    assert steps == sorted(steps)
    places = [visitor.page.text.index(f'data-part="{name}"') for name in ("examples", "events", "rates", "figures")]
    assert places == sorted(places)
    assert steps[-1] < places[0], "how to begin comes first"
    assert visitor.page.text.count('class="row"><span class="tags">') == 4, "few events"
    link = next(one.get("href") for one in visitor.tree.iter("a") if one.text == "Subscribe to this")
    visitor.get(link)
    assert visitor.page.url.path == "/pages/login"
    visitor.submit("/pages/login", username="tester", password=PASSWORD)
    assert visitor.form("/pages/subscriptions/new")["text"][0].strip() in filters
    assert "<html" not in visitor.get("/pages/now").text


def test_while_spark_starts_events_are_shown_and_it_is_said(service: Service, visitor: Visitor) -> None:
    service.client.post("/v1/events", json=car(year=1971))
    service.gateway.pipeline = ChildStatus("starting")
    _fresh(service)
    visitor.get("/")
    assert "Spark is still starting" in visitor.text
    assert "1971" in visitor.text


def test_why_nothing_is_matched_is_said_on_this_machine_alone(service: Service, visitor: Visitor) -> None:
    service.gateway.pipeline = ChildStatus("failed", "Spark needs Java 17 or newer and there is none")
    for settings, said in (
        (service.settings, True),
        (replace(service.settings, public_url="https://a.example"), False),
    ):
        service.gateway.settings = settings
        visitor.get("/")
        assert "The pipeline has stopped" in visitor.text
        assert ("Spark needs Java 17" in visitor.text) is said


@pytest.mark.parametrize("registration", [True, False])
def test_unless_the_operator_wants_it_guests_see_no_events(
    service: Service, visitor: Visitor, registration: bool
) -> None:
    assert Settings().showcase is False
    service.client.post("/v1/events", json=car(year=1971))
    service.gateway.settings = replace(service.settings, registration=registration, showcase=False)
    _fresh(service)
    visitor.get("/")
    assert "1971" not in visitor.text
    assert "What filters find" not in visitor.text
    assert ("Ask the operator of this service for one" in visitor.text) is not registration


def test_each_event_is_read_and_tried_once_and_large_ones_never(
    service: Service, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def validated(raw: Any, catalog: Catalog, **options: Any) -> Event:
        read.append(raw["id"])
        return validate(raw, catalog, **options)

    monkeypatch.setattr(showcase, "validate", validated)
    monkeypatch.setattr(showcase, "_FRESH", 0.0)
    _fresh(service)
    service.gateway.settings = replace(service.settings, values_per_attribute=10_000)
    large = car("large", paint=[f"p{number}" for number in range(10_000)])
    service.client.post("/v1/events", json=[car("e1"), car("e2"), large])
    visitor.get("/")
    assert "matches 2 of the last 2 events" in visitor.text
    assert "… and 9,992 more" in visitor.text, "it is shown as it came"
    assert sorted(read) == ["e1", "e2"]
    service.client.post("/v1/events", json=car("e3", year=2007))
    visitor.get("/")
    assert "2007" in visitor.text
    assert "of the last 3 events" in visitor.text
    assert read[2:] == ["e3"]
