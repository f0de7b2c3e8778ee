"""Documents in a browser: a path is built by choosing, the document unfolds, and what the path selects is marked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser.conftest import PHONE, Opened, register
from tests.service.conftest import Service, on_sqlite
from tests.service.pages.test_document_pages import grow, published

pytestmark = on_sqlite
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
SHOTS = os.environ.get("TIDINGS_SHOTS", "")
ARTICLES = [
    f'<news urgency="{urgency}"><head><title lang="en">{title}</title></head><body><p>So they <b>say</b> '
    f"today.</p><p>More follows.</p><quote who='Ann'>It was loud.</quote></body></news>"
    for urgency, title in ((2, "A storm is coming"), (5, "Ann's cat"))
]


def _shot(page: object, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=True)  # type: ignore[attr-defined]


def test_a_path_is_built_by_choosing_and_its_nodes_are_marked(service: Service, opened: Opened) -> None:
    grow(service)
    for number, article in enumerate(ARTICLES):
        published(service, article, f"a{number}")
    page = register(opened(), "dora")
    page.select_option("select[aria-label=Attribute]", "article")
    text, next = page.locator("#text"), page.get_by_label("Next step of article")
    next.select_option("//head")
    expect(text).to_have_value("article xpath '//head'")
    next.select_option(label="title")
    expect(text).to_have_value("article xpath '//head/title'")
    page.get_by_label("Condition of article", exact=True).select_option("contains")
    page.get_by_label("Value of the condition of article").fill("Ann's")
    page.click("text=Add the condition")
    expect(text).to_have_value("article xpath '//head/title[contains(., \"Ann''s\")]'")
    expect(page.locator("#count strong")).to_have_text("1")
    _shot(page, "path-builder")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing reaches over the edge"
    _shot(page, "path-builder-phone")
    page.click("text=Remove the last step")
    expect(text).to_have_value("article xpath '//head'")
    page.get_by_label("Path of article").fill("//title[contains(., 'storm')]")
    expect(text).to_have_value("article xpath '//title[contains(., ''storm'')]'")
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    id = page.url.rpartition("/")[2].partition("?")[0]
    position = published(service, ARTICLES[0], "a2")
    service.commit(service.store.committed() + 1, position, [(position, [id])])
    page.set_viewport_size({"width": 1280, "height": 860})
    page.goto(f"/pages/events/{position}")
    words = page.locator(".document >> text=It was loud.")
    expect(words).to_be_visible()
    page.locator(".document summary", has_text="body").click()
    expect(words).to_be_hidden()
    _shot(page, "document")
    page.goto(f"/pages/subscriptions/{id}/why/{position}")
    assert page.locator(".document mark").all_inner_texts() == ["title"]
    expect(page.locator(".document >> text=A storm is coming")).to_be_visible()
    expect(page.locator(".document >> text=It was loud.")).to_be_hidden()
    _shot(page, "document-why")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing reaches over the edge"
