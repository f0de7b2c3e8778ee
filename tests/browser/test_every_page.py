"""Every page at the width of a phone and of a desk, light and dark: nothing sticks out, nothing is unreadable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.browser.conftest import DESKTOP, PHONE, Opened, log_in, register
from tests.service.conftest import Service, car, on_sqlite
from tidings.settings import SCOPES

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = on_sqlite
_LONG = "unbroken" * 40
_PATTERN = f"[brand = mini]{{8}} before [paint = '{_LONG}'] without [year < 1980] as old within 10 min by paint"


def _furnished(service: Service, page: Page) -> list[str]:
    """The addresses of all pages, with long things on them."""
    register(page, "ann")
    service.store.change_account("ann", None, frozenset(SCOPES))
    page.context.clear_cookies()
    log_in(page, "ann")
    page.goto("/pages/subscriptions/new")
    page.fill("#text", f"brand = mini and (paint = '{_LONG}' or year < 1980 and price > 3)")
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    id = page.url.rpartition("/")[2].partition("?")[0]
    position = service.client.post("/v1/events", json=car(paint=[_LONG, "<b>red</b>"])).json()["position"]
    service.commit(1, position, [(position, [id])])
    page.goto("/pages/composites/new")
    page.fill("#text", _PATTERN)
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    pattern = page.url.rpartition("/")[2].partition("?")[0]
    ways = ("domain", "attribute", "event-type", "extension", "value")
    return [
        "/",
        "/pages/schema",
        "/pages/schema/history",
        *(f"/pages/schema/grow/{way}" for way in ways),
        "/pages/publish",
        "/pages/publish?type=car&type=auction",
        "/pages/events",
        "/pages/feeds",
        f"/pages/events/{position}",
        "/pages/subscriptions",
        "/pages/subscriptions/new",
        f"/pages/composites/new?composite={quote(_PATTERN)}",
        f"/pages/subscriptions/{pattern}?",
        f"/pages/subscriptions/{pattern}/edit?",
        "/pages/subscriptions/import",
        f"/pages/subscriptions/{id}",
        f"/pages/subscriptions/{id}/edit",
        f"/pages/subscriptions/{id}/why/{position}",
        f"/pages/subscriptions/{id}/channel",
        f"/pages/subscriptions/{id}/deliveries",
        "/pages/notices",
        "/pages/account",
        "/pages/operator",
    ]


def test_nothing_scrolls_sideways(service: Service, page: Page) -> None:
    def measure(address: str) -> None:
        page.goto(address)
        if address.endswith(("/new", "/edit")):
            page.wait_for_selector(".brow, #only-text:not([hidden])")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            for width, height in (PHONE, DESKTOP):
                page.set_viewport_size({"width": width, "height": height})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (address, scheme)

    for address in ("/", "/pages/login", "/pages/register"):
        measure(address)
    for address in _furnished(service, page):
        measure(address)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_barrier(service: Service, opened: Opened, scheme: str) -> None:
    """By axe-core: names, labels, contrast, structure."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = opened(scheme=scheme)
    barriers: list[Any] = []
    for address in ("/", "/pages/login", "/pages/register", *_furnished(service, page)):
        page.goto(address)
        page.wait_for_timeout(300)
        found = axe.Axe().run(page).response["violations"]
        barriers += [
            (address, one["id"], one["nodes"][0]["html"][:200], one["nodes"][0].get("failureSummary", "")[:300])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
    assert barriers == []
