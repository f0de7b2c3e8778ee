"""What a newcomer sees: what this is, events as they come, example filters with what they found, how to begin."""

from dataclasses import replace

from tests.service.conftest import PASSWORD, Service, car, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.service.pages.showcase import Showcase
from tidings.service.status import ChildStatus

pytestmark = on_sqlite


def _fresh(service: Service) -> None:
    service.app.state.showcase = Showcase(service.gateway)


def test_one_sentence_events_examples_and_how_to_begin(service: Service, visitor: Visitor) -> None:
    visitor.get("/")
    assert "Tidings matches every published event" in visitor.text
    assert "No event was published yet" in visitor.text
    service.client.post("/events", json=[car(f"e{number}", year=1960 + number) for number in range(30)])
    service.client.post("/subscriptions", json={"filter": "year = 1977"})
    _fresh(service)
    visitor.get("/")
    assert "1989" in visitor.text, "the newest event"
    assert "tried on the last 30 events" in visitor.text
    filters = [node.text_content() for node in visitor.tree.iter("pre") if node.get("class") == "filter"]
    assert "event_type contains 'car' and brand = 'mini'" in filters
    assert "fits 30 of 30" in visitor.text
    assert "year = 1977" not in visitor.page.text, "nobody's subscriptions are shown"
    for words in ("Make an account", "Leave a filter standing", "Be told"):
        assert words in visitor.text
    link = next(one.get("href") for one in visitor.tree.iter("a") if one.text == "Leave it standing")
    visitor.get(link)
    assert visitor.page.url.path == "/pages/login"
    visitor.submit("/pages/login", username="tester", password=PASSWORD)
    assert visitor.form("/pages/subscriptions/new")["text"][0].strip() in filters
    assert "<html" not in visitor.get("/pages/now").text


def test_while_spark_starts_events_are_shown_and_it_is_said(service: Service, visitor: Visitor) -> None:
    service.client.post("/events", json=car(year=1971))
    service.gateway.pipeline = ChildStatus("starting")
    _fresh(service)
    visitor.get("/")
    assert "Spark, which does the matching, is still starting" in visitor.text
    assert "1971" in visitor.text


def test_where_nobody_may_register_guests_see_no_events(service: Service, visitor: Visitor) -> None:
    service.client.post("/events", json=car(year=1971))
    service.gateway.settings = replace(service.settings, registration=False)
    _fresh(service)
    visitor.get("/")
    assert "1971" not in visitor.text
    assert "What filters find" not in visitor.text
    assert "Whoever runs this service gives them out" in visitor.text
