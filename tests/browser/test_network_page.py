"""The page of a network in a browser, light and dark, on a desk and on a phone."""

from __future__ import annotations

import os

import pytest

from tests.browser.conftest import DESKTOP, PHONE, Opened, log_in, register
from tests.service.conftest import Service, on_sqlite
from tests.service.networked import networked
from tests.service.pages.network_seen import seen
from tidings.service.network import Network
from tidings.settings import SCOPES

pytestmark = on_sqlite
SHOTS = os.environ.get("TIDINGS_SHOTS", "")


def test_nothing_sticks_out(service: Service, opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    async def describe(_: Network) -> dict[str, object]:
        return seen()

    monkeypatch.setattr(Network, "describe", describe)
    register(opened(), "ann")
    service.store.change_account("ann", None, frozenset(SCOPES))
    with networked(service, "athens"):
        for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
            page = opened(size=size, scheme=scheme)
            log_in(page, "ann")
            page.goto("/pages/network")
            assert page.locator("svg[role=img] circle").count() == 5
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            texts = page.locator("svg[role=img] text").all()
            drawing = page.locator("svg[role=img]").bounding_box()
            assert drawing is not None
            for text in texts:
                box = text.bounding_box()
                assert box is not None
                assert drawing["x"] <= box["x"], text.text_content()
                assert box["x"] + box["width"] <= drawing["x"] + drawing["width"], text.text_content()
            if SHOTS:
                page.screenshot(path=f"{SHOTS}/network-{scheme}.png", full_page=True)
