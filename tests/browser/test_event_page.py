"""An event's own page: its headline, long text, attributes by type; and why it matched."""

from __future__ import annotations

import os

import pytest

from tests.browser.conftest import Opened, matched, register, subscribe
from tests.service.conftest import Service, on_sqlite
from tidings.schema import Attribute, AttributeUse, EventType, growth
from tidings.store import Grow

pytestmark = on_sqlite
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
SHOTS = os.environ.get("TIDINGS_SHOTS", "")
BODY = "A small house by the sea. " * 60 + "The old oak in front of it fell.\nNobody was hurt. " + "So they say. " * 30


def test_a_story_is_whole_and_why_marks_its_words(service: Service, opened: Opened) -> None:
    uses = tuple(AttributeUse(name, mandatory=False) for name in ("year", "slug", "body", "category"))
    service.store.append(
        [
            Grow(growth.CreateAttribute(Attribute("slug", "words"))),
            Grow(growth.CreateAttribute(Attribute("body", "words"))),
            Grow(growth.CreateEventType(EventType("story", uses, "slug"))),
        ]
    )
    page = register(opened(), "stella")
    id = subscribe(page, "body contains any 'oak hurt' and category under furniture")
    attributes = {"slug": "The oak", "body": BODY, "year": 1987, "category": "desk", "brand": "mini"}
    position = matched(service, id, {"id": "s1", "event_type": ["story", "car"], "attributes": attributes})
    page.goto(f"/pages/events/{position}")
    expect(page.locator("h1")).to_have_text("The oak")
    assert page.locator("dt").all_inner_texts() == ["year", "body", "category", "brand"], (
        "by type, as the schema has them"
    )
    assert page.locator("h2.of").all_inner_texts() == ["story", "car"]
    expect(page.locator(".long p")).to_be_hidden()
    page.click(".long summary")
    expect(page.locator(".long p")).to_contain_text("Nobody was hurt.")
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/event.png", full_page=True)
    page.goto(f"/pages/subscriptions/{id}/why/{position}")
    assert page.locator("mark").all_inner_texts() == ["oak", "hurt", "furniture"]
    assert page.locator(".reasons").inner_text().count("A small house") < 4, "only what stands around the words"
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/why.png", full_page=True)
    page.goto(f"/pages/subscriptions/{id}")
    expect(page.locator(".what")).to_have_text("The oak")
