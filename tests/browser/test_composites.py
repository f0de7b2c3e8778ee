"""A composite written with the builder and as text, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.conftest import register
from tests.service.conftest import Service, on_sqlite

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
