"""The page for files, in a browser: a chosen file is read there, and corrections show their effect at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PHONE, Opened, register
from tests.service.conftest import on_sqlite

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = on_sqlite
expect = pytest.importorskip("playwright.sync_api").expect
ROWS = "Nr;Title;Price\n" + "".join(f"n{n};Boat {n};{n}00 €\n" for n in range(1, 30)) + "n99;x;not below 5000\n"


def test_a_file_is_chosen_and_a_guess_corrected(page: Page, opened: Opened) -> None:
    register(page, "ann")
    page.goto("/pages/feeds")
    page.set_input_files("#file", {"name": "boats.csv", "mimeType": "text/csv", "buffer": ROWS.encode()})
    expect(page.locator("#sample")).to_have_value(ROWS)
    expect(page.locator("#place")).to_have_value("boats.csv")
    page.click("button:has-text('Guess')")
    page.wait_for_selector("#effect pre", timeout=60_000)
    page.fill("[name=name2]", "cost")
    page.select_option("[name=kind2]", "numeric")
    expect(page.locator("#effect")).to_contain_text('"cost": 100', timeout=60_000)
    assert page.url.endswith("/pages/feeds")
    with page.expect_download() as waiting:
        page.click("button:has-text('Download the mapping')")
    assert waiting.value.suggested_filename == "boats.toml"
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
