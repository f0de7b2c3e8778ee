"""The page for files, in a browser: a chosen file is read there, and corrections show their effect at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PHONE, Opened, register
from tests.service.conftest import on_sqlite

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = on_sqlite
expect = pytest.importorskip("playwright.sync_api").expect
SHOTS = os.environ.get("TIDINGS_SHOTS", "")
BOATS = "".join(f"n{n};Boat {n};{n}00 €;2026-05-{n:02}\n" for n in range(1, 30))
ROWS = f"Nr;Title;Price;Seen\n{BOATS}n99;x;not below 5000;2026-05-30\n"


def test_a_file_is_chosen_and_a_guess_corrected(page: Page, opened: Opened) -> None:
    register(page, "ann")
    page.goto("/pages/feeds")
    page.set_input_files("#file", {"name": "boats.csv", "mimeType": "text/csv", "buffer": ROWS.encode()})
    expect(page.locator("#sample")).to_have_value(ROWS)
    expect(page.locator("#place")).to_have_value("boats.csv")
    page.click("button:has-text('Guess')")
    page.wait_for_selector("#effect pre", timeout=60_000)
    page.fill("[name=name2]", "cost")
    expect(page.locator("[name=kind2]")).to_have_value("numeric")
    page.select_option("[name=kind2]", "numeric")  # which leaves the name, so that the form is tried
    expect(page.locator("#effect")).to_contain_text('"cost": 100', timeout=60_000)
    page.select_option("[name=time]", "Seen")
    expect(page.locator("#effect")).to_contain_text('"time": "2026-05-01T00:00:00Z"', timeout=60_000)
    assert page.url.endswith("/pages/feeds")
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/feeds.png", full_page=True)
    with page.expect_download() as waiting:
        page.click("button:has-text('Download the mapping')")
    assert waiting.value.suggested_filename == "boats.toml"
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
