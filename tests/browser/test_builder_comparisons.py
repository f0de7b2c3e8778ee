"""The builder compares attributes with each other and with now, and knows places."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import DESKTOP, PHONE, Opened, register
from tests.service.conftest import Service, on_sqlite
from tidings.schema import Attribute, AttributeUse, Domain, growth
from tidings.schema.domain import Kind
from tidings.store import Grow

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = on_sqlite
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
SHOTS = os.environ.get("TIDINGS_SHOTS", "")


def _row(page: Page, number: int, attribute: str, operator: str) -> None:
    page.locator(".brow select[aria-label=Attribute]").nth(number).select_option(attribute)
    page.locator(".brow select[aria-label=Operator]").nth(number).select_option(operator)


def test_rows_and_text_say_the_same(service: Service, opened: Opened) -> None:
    service.store.append(
        [
            Grow(growth.CreateDomain(Domain("spot", Kind.PLACE))),
            Grow(growth.CreateAttribute(Attribute("spot", "spot"))),
            Grow(growth.ExtendEventType("auction", AttributeUse("spot", mandatory=False))),
        ]
    )
    page = register(opened(size=DESKTOP), "bea")
    groups = page.locator(".brow optgroup").evaluate_all("(all) => all.map((one) => one.label)")
    assert groups == ["auction", "car", "Every event"]
    _row(page, 0, "price", "compares")
    page.select_option("select[aria-label='Relation of price']", "<")
    page.select_option("select[aria-label='Other attribute of price']", "estimate")
    expect(page.locator("#text")).to_have_value('price < "estimate"')
    page.fill("input[aria-label='Times of price']", "1.1")
    page.fill("input[aria-label='Plus of price']", "-50")
    expect(page.locator("#text")).to_have_value('price < 1.1 * "estimate" - 50')
    page.click("button:has-text('And …')")
    _row(page, 1, "ends", "now")
    page.select_option("select[aria-label='Relation of ends']", "<")
    page.fill("input[aria-label='Span of ends']", "2 h")
    page.click("button:has-text('And …')")
    _row(page, 2, "spot", "near")
    page.fill("input[aria-label='Latitude of spot']", "37.8")
    page.fill("input[aria-label='Longitude of spot']", "-122.4")
    page.fill("input[aria-label='Distance of spot']", "300")
    whole = 'price < 1.1 * "estimate" - 50 and ends < now + 2 h and spot near (37.8, -122.4) within 300 km'
    expect(page.locator("#text")).to_have_value(whole)
    for size in (DESKTOP, PHONE):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing reaches over the edge"
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/comparisons-{size[0]}.png", full_page=True)
    page.fill("input[aria-label='Distance of spot']", "far")
    expect(page.locator(".brow .wrong")).to_be_visible()
    page.fill("#text", "spot not inside (37, -123, 38, -122)")
    expect(page.locator(".brow")).to_have_count(1)
    expect(page.locator("select[aria-label=Operator]")).to_have_value("not inside")
    expect(page.locator("input[aria-label='West of spot']")).to_have_value("-123")
    page.fill("input[aria-label='West of spot']", "-124")
    expect(page.locator("#text")).to_have_value("spot not inside (37, -124, 38, -122)")
