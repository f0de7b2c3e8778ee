"""The builder of filters in a browser: rows never say anything else than the text, and no choice is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PHONE, Opened, register, subscribe
from tests.service.conftest import Service
from tidings.schema import growth
from tidings.schema.catalog import Attribute, AttributeUse
from tidings.store import Grow

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

_MORE = "This filter says more than rows can show"
_MISTAKE = "The text has a mistake. Rows come back when it is put right."


@pytest.fixture
def service(shared: Service) -> Service:
    return shared


def _edit(page: Page, id: str) -> None:
    page.goto(f"/pages/subscriptions/{id}/edit")


def test_a_filter_that_rows_cannot_show_is_never_shown_as_another(service: Service, page: Page) -> None:
    register(page, "olga")
    filter = "brand not contains 'audi' and year < 1980"
    id = subscribe(page, filter)
    _edit(page, id)
    page.wait_for_selector(f"text={_MORE}")
    for part in ("#groups", "#adding"):
        expect(page.locator(part)).to_be_hidden()
    page.click("#save")
    page.wait_for_selector(".notice.good:has-text('Saved.')")
    assert service.store.subscription(id).filter == filter


def test_rows_of_an_attribute_that_is_younger_than_the_page(service: Service, page: Page) -> None:
    register(page, "petra")
    page.wait_for_selector(".brow")
    service.store.append([Grow(growth.CreateAttribute(Attribute("mileage", "money")))])
    page.fill("#text", "mileage > 3 and price < 5")
    page.wait_for_selector(f"text={_MORE}")
    service.store.append([Grow(growth.ExtendEventType("car", AttributeUse("mileage", False)))])
    page.fill("#text", "mileage > 4 and price < 5")
    expect(page.locator(".brow").first.get_by_label("Attribute")).to_have_value("mileage")
    page.locator(".brow").nth(1).locator(".vals input").fill("6")
    expect(page.locator("#text")).to_have_value("mileage > 4 and price < 6")


def test_rows_that_could_not_be_read_are_not_dropped(service: Service, page: Page) -> None:
    register(page, "quentin")
    id = subscribe(page, "brand = 'mini' and year < 1980")
    _edit(page, id)
    year = page.locator(".brow").nth(1).locator(".vals input")
    expect(year).to_have_value("1980")

    def refuse(route: Route) -> None:
        route.fulfill(status=422, json={"detail": "Ask again later."})

    page.route("**/pages/filter", refuse)
    year.fill("1970")
    expect(page.locator("#count")).to_have_text("Ask again later.")
    page.click("#save")
    expect(page.locator("#count")).to_have_text("Not saved. Ask again later.")
    assert page.url.endswith("/edit"), "the old text was not sent"
    page.unroute("**/pages/filter", refuse)
    page.click("#save")
    page.wait_for_selector(".notice.good:has-text('Saved.')")
    assert service.store.subscription(id).filter == "brand = 'mini' and year < 1970"


def test_a_new_filter_is_saved_though_its_text_has_not_come_yet(service: Service, page: Page) -> None:
    register(page, "rosa")
    row = page.locator(".brow").first
    row.get_by_label("Attribute").select_option("year")
    row.locator(".vals input").fill("1971")
    page.click("#save")
    page.wait_for_selector("text=It stands. Every event")
    assert [one.filter for one in service.store.subscriptions("rosa")] == ["year = 1971"]


def test_an_edited_one_is_not_found_by_itself(service: Service, page: Page) -> None:
    register(page, "silvia")
    id = subscribe(page, "brand = 'volvo'")
    with page.expect_response("**/pages/filter/covered") as answer:
        _edit(page, id)
    assert answer.value.json() == {"covered_by": ""}
    page.goto("/pages/subscriptions/new?filter=brand+=+'volvo'+and+year+=+1")
    page.wait_for_selector("text=All of this is found already by one you have.")


def test_while_the_text_has_a_mistake_there_are_no_rows(service: Service, page: Page) -> None:
    register(page, "tessa")
    page.fill("#text", "brand = mini and prise > 3")
    page.wait_for_selector(f"text={_MISTAKE}")
    expect(page.locator("#groups")).to_be_hidden()
    said = page.locator("#wrong .wrong")
    expect(said).to_have_text("No attribute 'prise'; did you mean 'price'? (line 1, column 18)")
    assert page.get_attribute("#wrong", "role") == "status"
    page.fill("#text", "brand = mini and price > 3")
    expect(page.locator(".brow")).to_have_count(2)
    expect(page.locator("#only-text")).to_be_hidden()


def test_the_keyboard_stays_where_it_was_and_times_are_utc(service: Service, opened: Opened) -> None:
    page = register(opened(size=PHONE), "ulla")
    page.fill("#text", "brand = mini and year > 3 or ends between '2026-05-04T12:00:00Z' and '2026-05-05T12:00:00Z'")
    between = page.get_by_label("Between the groups")
    between.select_option("and")
    expect(page.get_by_label("Between the groups")).to_be_focused()
    expect(page.locator("#text")).to_have_value(
        "(brand = 'mini' or year > 3) and ends between '2026-05-04T12:00:00Z' and '2026-05-05T12:00:00Z'"
    )
    assert [legend.inner_text() for legend in page.locator(".group > legend").all()] == [
        "When any of these holds",
        "When",
    ]
    expect(page.locator(".utc")).to_have_text(["UTC", "UTC"])
    edge = page.evaluate("document.querySelector('.brow').getBoundingClientRect().right")
    reaches = page.evaluate("document.querySelector('.brow .vals').getBoundingClientRect().right")
    assert abs(edge - reaches) < 1
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_enter_publishes_and_a_double_click_publishes_once(service: Service, page: Page) -> None:
    register(page, "vera")
    for send in ("Enter", "double click"):
        page.goto("/pages/publish?type=car")
        tail = service.store.tail()
        page.get_by_label("brand").select_option("mini")
        page.get_by_label("year").fill("1971")
        if send == "Enter":
            page.get_by_label("year").press("Enter")
        else:
            page.dblclick("main button:has-text('Publish')")
        page.wait_for_selector("text=See the event and whom it matched")
        page.wait_for_load_state("networkidle")
        assert service.store.tail() == tail + 1, send
