"""A composite written with the builder and as text, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.conftest import register
from tests.service.conftest import Service, car, on_sqlite
from tests.store.detected import three_detections

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = on_sqlite


def test_from_a_shape_to_a_subscription(service: Service, page: Page) -> None:
    register(page, "ann")
    page.goto("/pages/composites/new")
    assert page.is_visible("#second")
    assert not page.is_visible("#count")
    page.select_option("#shape", "times")
    assert not page.is_visible("#second")
    page.fill("#first", "brand = mini")
    page.fill("#count", "4")
    page.click("#build")
    page.wait_for_selector("#pattern circle")
    assert page.input_value("#text") == "times([brand = 'mini'], 4) within 10 min"
    page.fill("#text", "[brand = mini] before [prise < 5]")
    page.wait_for_selector(".caret")
    page.fill("#text", "[brand = mini] unless [year < 1950] within 1 h")
    page.wait_for_selector("#pattern .never")
    page.wait_for_selector("#newest .count")
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    page.wait_for_selector("text=Waiting for [brand = 'mini']")
    assert [one.filter for one in service.store.subscriptions("ann")] == [
        "[brand = 'mini'] unless [year < 1950] within 1 h"
    ]


def test_what_it_waits_for_and_what_it_finds_appear_by_themselves(service: Service, page: Page) -> None:
    register(page, "ann")
    page.clock.install()  # the page looks every 10 s
    page.goto("/pages/composites/new")
    page.fill("#text", "[brand = mini] before [year < 1950] within 1 h")
    page.click("#save")
    page.wait_for_selector("text=Waiting for [brand = 'mini']")
    id = service.store.subscriptions("ann")[0].id
    service.client.post("/v1/events", json=car("one"))
    page.clock.fast_forward(11_000)
    page.wait_for_selector("text=Waiting for [year < 1950]; 1 partial match")
    service.client.post("/v1/events", json=car("two", year=1940))
    three_detections(service.store, id, "ann", "one", "two")
    page.wait_for_selector("figure.detection circle")
    assert page.locator("figure.detection").count() == 3
