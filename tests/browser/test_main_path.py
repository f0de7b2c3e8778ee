"""What a newcomer does, from registering to deleting, in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Opened, register
from tests.service.conftest import Service, on_sqlite

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytestmark = on_sqlite


def _row(page: Page, number: int, attribute: str, operator: str, *values: str) -> None:
    row = page.locator(".brow").nth(number)
    row.get_by_label("Attribute").select_option(attribute)
    row.get_by_label("Operator").select_option(label=operator)
    for place, value in enumerate(values):
        field = row.locator(".vals input, .vals select").nth(place)
        if field.evaluate("node => node.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def test_from_registering_to_deleting(service: Service, page: Page, opened: Opened) -> None:
    register(page, "ann")
    _row(page, 0, "brand", "is", "mini")
    page.click("text=And …")
    _row(page, 1, "year", "less than", "1980")
    expect(page.locator("#text")).to_have_value("brand = 'mini' and year < 1980")
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    id = page.url.rpartition("/")[2].partition("?")[0]
    page.wait_for_selector(".live.on")
    assert page.locator("#matches > li").count() == 0

    # Another window publishes; this one is not reloaded.
    page.evaluate("window.same = true")
    other = page.context.new_page()
    other.goto("/pages/publish")
    other.check("input[value=car]")
    other.click("text=Continue")
    other.get_by_label("brand").select_option("mini")
    other.get_by_label("year").fill("1971")
    other.get_by_label("paint").fill("red")
    other.click("text=Another value")
    other.get_by_label("paint, value 2").fill("white")
    other.click("button:has-text('Publish')")
    other.wait_for_selector("text=Published.")
    position = int(other.url.rpartition("=")[2])
    service.commit(1, position, [(position, [id])])
    page.wait_for_selector("#matches > li:has-text('1971'):has-text('red, white')")
    assert page.evaluate("window.same"), "the page was reloaded"
    page.click("[data-why]")
    page.wait_for_selector(".reasons li.yes:has-text('year < 1980'):has-text('year is 1971')")
    assert page.url.partition("?")[0].endswith(id), "the reason came to the page"

    page.click("button:has-text('Pause')")
    page.wait_for_selector("text=Paused.")
    assert service.store.subscription(id).state == "paused"
    page.click("summary:has-text('Delete')")
    page.click("text=Yes, delete it")
    page.wait_for_selector("text=No subscriptions yet")
    assert service.store.subscriptions("ann") == []


def test_text_and_rows_are_kept_in_step(service: Service, page: Page) -> None:
    for year in (1971, 1990):
        body = {"id": str(year), "event_type": "car", "attributes": {"brand": "mini", "year": year}}
        assert service.client.post("/v1/events", json=body).status_code == 202
    register(page, "ann")
    page.fill("#text", "brand = mini and year > 1980 or category under vehicle")
    page.wait_for_selector(".group >> nth=1")
    rows = page.locator(".brow")
    assert rows.count() == 3
    assert rows.nth(2).get_by_label("Operator").locator("option:checked").inner_text() == "is within"
    page.wait_for_selector("text=Matches 1 of the last 2 events.")
    rows.nth(1).locator(".vals input").fill("1960")
    page.wait_for_selector("text=Matches 2 of the last 2 events.")
    assert "year > 1960" in page.input_value("#text")
    page.fill("#text", "not (price < 3 or year > 3)")
    page.wait_for_selector("text=Rows cannot show this filter")
    assert not page.locator("#groups").is_visible()
    page.fill("#text", "brand = mini and prise > 3")
    page.wait_for_selector("text=no attribute 'prise'; did you mean 'price'?")
    page.click("text=line 1, column 18")
    assert page.evaluate("document.activeElement.id + document.activeElement.selectionStart") == "text17"
    page.fill("#text", "year < 1 and year > 2")
    page.wait_for_selector("text=this filter can never match")
    page.fill("#text", "")
    expect(page.locator(".brow")).to_have_count(1)
    _row(page, 0, "year", "is", "old")
    expect(page.locator(".brow .wrong")).to_have_text("'old' is not a number; expected e.g. 1300 or 12.5.")


def test_the_home_page_goes_on_by_itself(service: Service, page: Page) -> None:
    page.goto("/")
    page.wait_for_selector("text=Events stored")
    body = {"id": "e1", "event_type": "car", "attributes": {"brand": "mini", "year": 1971}}
    before = page.locator(".facts dd").first.inner_text()
    assert service.client.post("/v1/events", json=body).status_code == 202
    expect(page.locator(".facts dd").first).not_to_have_text(before)
    page.goto("/pages/schema")
    page.click("summary:has-text('vehicle')")
    assert page.locator("text=bicycle").first.is_visible()


def test_without_any_script(service: Service, opened: Opened) -> None:
    page = register(opened(script=False), "ann")
    page.fill("#text", "brand = mini and year < 1980")
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    page.goto("/pages/publish?type=car")
    page.get_by_label("brand").select_option("mini")
    page.get_by_label("year").fill("1971")
    page.click("button:has-text('Publish')")
    page.wait_for_selector("text=Published.")
