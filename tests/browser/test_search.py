"""The page to search stored events, with its builder and its chart."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import DESKTOP, PHONE, Opened, register
from tests.service.conftest import Service, car

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
SHOTS = os.environ.get("TIDINGS_SHOTS", "")


@pytest.fixture
def service(shared: Service) -> Service:
    for year in range(1931, 1941):
        raw = car(f"found-{year}", year=year, paint="ochre") | {"time": f"{year}-05-01T10:00:00Z"}
        assert shared.client.post("/v1/events", json=raw).status_code in (200, 202)
    return shared


def _shot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_from_a_filter_to_a_subscription(service: Service, opened: Opened, size: tuple[int, int]) -> None:
    page = register(opened(size=size), f"sam{size[0]}")
    page.goto("/pages/events")
    page.fill("#text", "paint = 'ochre' and yaer > 1934")
    expect(page.locator("#wrong")).to_contain_text("did you mean 'year'")
    page.fill("#text", "paint = 'ochre' and year > 1934")
    expect(page.locator("#wrong")).to_be_empty()
    page.click("summary:has-text('Build it by rows')")
    expect(page.locator(".brow")).to_have_count(2)
    expect(page.locator(".brow select[aria-label=Attribute]").nth(1)).to_have_value("year")
    page.select_option("#type", "car")
    page.click("button:has-text('Search')")
    expect(page.locator("#found")).to_have_text("6 events found")
    expect(page.locator(".times a")).to_have_count(6)
    expect(page.locator(".cover").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing reaches over the edge"
    _shot(page, f"search-{size[0]}")
    page.locator(".times a").first.click()
    expect(page.locator("#found")).to_have_text("1 event found")
    page.go_back()
    page.click("text=Subscribe to this")
    expect(page.locator("#text")).to_have_value("event_type contains 'car' and paint = 'ochre' and year > 1934")
    expect(page.locator("#count")).to_contain_text("of type car")
    expect(page.locator("#newest .times")).to_be_visible()
    _shot(page, f"subscribe-{size[0]}")


def test_rows_that_are_not_filled_in_are_not_searched_for(service: Service, page: Page) -> None:
    register(page, "sandra")
    page.goto("/pages/events")
    page.click("summary:has-text('Build it by rows')")
    page.select_option("select[aria-label=Attribute]", "year")
    page.click("button:has-text('Search')")
    expect(page.locator(".brow .wrong")).to_contain_text("Enter a value")
    page.fill("input[aria-label='Value of year']", "1936")
    page.click("button:has-text('Search')")
    expect(page.locator("#text")).to_have_value("year = 1936")
    expect(page.locator("#found")).to_have_text("1 event found")


def test_an_empty_search_shows_everything(service: Service, page: Page) -> None:
    register(page, "saul")
    page.click("nav a:has-text('Events')")
    expect(page.locator(".times")).to_be_visible()
    page.click("button:has-text('Search')")
    expect(page.locator(".cover").first).to_be_visible()
    _shot(page, "search-all")
