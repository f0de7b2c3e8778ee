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

_MORE = "Rows cannot show this filter"
_MISTAKE = "The text has an error. Rows come back when it is fixed."


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
    page.wait_for_selector("text=Subscribed. Every event")
    assert [one.filter for one in service.store.subscriptions("rosa")] == ["year = 1971"]


def test_an_edited_one_is_not_found_by_itself(service: Service, page: Page) -> None:
    register(page, "silvia")
    id = subscribe(page, "brand = 'volvo'")
    with page.expect_response("**/pages/filter/covered") as answer:
        _edit(page, id)
    assert answer.value.json() == {"covered_by": ""}
    page.goto("/pages/subscriptions/new?filter=brand+=+'volvo'+and+year+=+1")
    page.wait_for_selector("text=All of this is already covered by one you have.")


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


def _fill_row(page: Page, place: int, attribute: str, operator: str, *values: str) -> None:
    row = page.locator(".brow").nth(place)
    row.get_by_label("Attribute").select_option(attribute)
    row.get_by_label("Operator").select_option(operator)
    for number, value in enumerate(values):
        row.locator(".vals input").nth(number).fill(value)


def test_a_row_without_its_value_is_asked_for_and_never_left_out(service: Service, page: Page) -> None:
    register(page, "wanda")
    _fill_row(page, 0, "price", "<", "30000")
    page.click("text=And …")
    _fill_row(page, 1, "year", "between", "1960")
    said = page.locator(".brow .wrong")
    for _ in range(2):  # before its text has come, and after that
        page.click("#save")
        expect(said).to_have_text("Enter a value, or remove this row.")
        expect(page.get_by_label("Value 2 of year")).to_be_focused()
        expect(page.get_by_label("Value 2 of year")).to_have_accessible_description(
            "Enter a value, or remove this row."
        )
        expect(page.locator("#text")).to_have_value("price < 30000")
    assert page.locator(".brow").nth(1).locator(".wrong").count() == 1, "at the row that lacks it"
    assert service.store.subscriptions("wanda") == []
    page.get_by_label("Value 2 of year").fill("1979")
    expect(said).to_have_count(0)
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    assert [one.filter for one in service.store.subscriptions("wanda")] == [
        "price < 30000 and year between 1960 and 1979"
    ]


def test_of_two_values_the_second_may_be_filled_in_first_and_an_only_row_is_held_too(
    service: Service, page: Page
) -> None:
    register(page, "xenia")
    _fill_row(page, 0, "year", "between")
    with page.expect_response("**/pages/filter") as answer:
        page.get_by_label("Value 2 of year").fill("1979")
    assert answer.value.json()["incomplete"] == [[0, 0]]
    page.click("#save")
    expect(page.get_by_label("Value 1 of year")).to_be_focused()
    page.get_by_label("Value 1 of year").fill("1960")
    page.click("text=And …")  # a row without an attribute says nothing yet
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    assert [one.filter for one in service.store.subscriptions("xenia")] == ["year between 1960 and 1979"]


def test_a_mistake_in_a_row_is_mended_in_the_row(service: Service, page: Page) -> None:
    register(page, "yvonne")
    _fill_row(page, 0, "price", "<", "30,000")
    said = page.locator(".brow .wrong")
    mistake = "'30,000' is not a number; expected e.g. 1300 or 12.5."
    for _ in range(2):
        page.click("#save")
        expect(said).to_have_text(mistake)
        expect(page.get_by_label("Value of price")).to_be_focused()
    page.click("text=And …")
    expect(said).to_have_text(mistake)
    assert page.url.endswith("/new")
    page.get_by_label("Value of price").fill("30000")
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    assert [one.filter for one in service.store.subscriptions("yvonne")] == ["price < 30000"]


def test_a_row_that_is_removed_takes_what_was_said_with_it(service: Service, page: Page) -> None:
    register(page, "zelda")
    _fill_row(page, 0, "price", "<", "cheap")
    page.click("text=And …")
    _fill_row(page, 1, "year", "=", "1971")
    expect(page.locator(".brow .wrong")).to_have_count(1)
    page.get_by_label("Remove this row").first.click()
    expect(page.locator(".brow .wrong")).to_have_count(0)
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    assert [one.filter for one in service.store.subscriptions("zelda")] == ["year = 1971"]


def test_the_text_may_be_saved_whatever_rows_were_begun(service: Service, page: Page) -> None:
    register(page, "anton")
    _fill_row(page, 0, "price", "<", "cheap")
    expect(page.locator(".brow .wrong")).to_have_count(1)
    page.fill("#text", "year = 1971")
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    assert [one.filter for one in service.store.subscriptions("anton")] == ["year = 1971"]


def test_the_keyboard_comes_to_the_value_before_the_button_that_removes_it(service: Service, page: Page) -> None:
    register(page, "berta")
    _fill_row(page, 0, "price", "<", "3")
    page.get_by_label("Operator").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Value of price")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Remove this row")).to_be_focused()


def test_on_a_phone_a_time_has_the_width_of_its_row(service: Service, opened: Opened) -> None:
    page = register(opened(size=PHONE), "clara")
    page.fill("#text", "ends between '2026-05-04T12:00:00Z' and '2026-05-05T12:00:07Z'")
    first, second = page.get_by_label("Value 1 of ends"), page.get_by_label("Value 2 of ends")
    expect(first).to_have_value("2026-05-04T12:00")
    expect(second).to_have_value("2026-05-05T12:00:07")
    assert (first.get_attribute("step"), second.get_attribute("step")) == (None, "1")
    reaches = page.evaluate("document.querySelector('.brow .vals').getBoundingClientRect().width")
    box = first.bounding_box()
    assert box is not None
    assert abs(box["width"] - reaches) < 1
    second.fill("2026-05-05T12:00:08")
    expect(page.locator("#text")).to_have_value("ends between '2026-05-04T12:00:00Z' and '2026-05-05T12:00:08Z'")


def test_what_the_service_says_is_a_sentence(service: Service, opened: Opened) -> None:
    page = register(opened(), "dora")
    page.route("**/pages/filter", lambda route: route.fulfill(status=422, json={"detail": "you are logged in as x"}))
    page.fill("#text", "year = 1")
    expect(page.locator("#count")).to_have_text("You are logged in as x.")


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
        page.wait_for_selector("text=See the event and its matches")
        page.wait_for_load_state("networkidle")
        assert service.store.tail() == tail + 1, send
