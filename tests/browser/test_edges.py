"""The edges of what is typed into or pressed can be seen: WCAG 1.4.11, three to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PHONE, Opened, register, subscribe
from tests.service.conftest import Service, on_sqlite

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = on_sqlite

_COLOURS = """(node) => {
    let around = node.parentElement;
    while (getComputedStyle(around).backgroundColor === "rgba(0, 0, 0, 0)") around = around.parentElement;
    return [getComputedStyle(node).borderTopColor, getComputedStyle(around).backgroundColor];
}"""


def _contrast(page: Page, selector: str) -> float:
    lights = sorted(_light(colour) for colour in page.locator(selector).first.evaluate(_COLOURS))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _light(colour: str) -> float:
    """Relative luminance of rgb(r, g, b)."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(", ")]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fields_and_plain_buttons_have_an_edge(service: Service, opened: Opened, scheme: str) -> None:
    page = register(opened(scheme=scheme), "ann")
    for selector in ("#text", ".brow select", "button.plain"):
        assert _contrast(page, selector) >= 3, selector


def test_on_a_phone_actions_stand_in_a_row_of_their_own(service: Service, opened: Opened) -> None:
    page = register(opened(size=PHONE), "ann")
    subscribe(page, "brand = mini")
    row, card = page.locator(".acts.end").bounding_box(), page.locator(".card.top").bounding_box()
    assert row is not None
    assert card is not None
    assert row["width"] > card["width"] * 0.8
