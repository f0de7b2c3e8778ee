"""A session that ends while somebody writes: log in, and go on where you were. Nothing that was typed is lost."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Opened, end_sessions, log_in, register, subscribe
from tests.service.conftest import PASSWORD, Service, car
from tidings.service.pages.forms.kept_form import SECRET_FIELDS

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
TEMPLATES = Path(__file__).parents[2] / "src/tidings/service/pages/templates"
_STILL_THERE = "What you typed is still here"


@pytest.fixture
def service(shared: Service) -> Service:
    return shared


def _log_in_again(page: Page, username: str) -> None:
    """Wrongly at first."""
    page.wait_for_selector("text=nothing was sent")
    page.fill("#username", username)
    page.fill("#password", "not the password")
    page.press("#password", "Enter")
    page.wait_for_selector("#wrong-password")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_selector(f"text={_STILL_THERE}")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_an_event_that_was_half_published(service: Service, opened: Opened, script: bool) -> None:
    name = f"publisher{script:d}"
    page = register(opened(script=script), name)
    page.goto("/pages/publish?type=car&type=auction")
    page.get_by_label("brand").select_option("mini")
    page.get_by_label("year").fill("1971")
    page.get_by_label("paint").first.fill("<b>red</b>")
    if script:
        page.click("text=Another value")
        page.get_by_label("paint, value 2").fill('"white" & blue')
    page.get_by_label("title").fill("Mini </textarea><script>alert(1)</script>")
    page.get_by_label("price").fill("900")
    page.check("[name='value:category'][value=furniture]")
    page.locator("[name='value:ends']").fill("2026-05-08T18:00:00")
    end_sessions(service, name)
    page.click("button:has-text('Publish')")
    tail = service.store.tail()
    _log_in_again(page, name)
    assert service.store.tail() == tail, "nothing was published by logging in"
    assert page.get_by_label("brand").input_value() == "mini"
    assert page.is_checked("[name='value:category'][value=furniture]")
    assert page.get_by_label("title").input_value() == "Mini </textarea><script>alert(1)</script>"
    paints = [field.input_value() for field in page.locator("[name='value:paint']").all()]
    assert [one for one in paints if one] == ["<b>red</b>", *(['"white" & blue'] if script else [])]
    page.click("button:has-text('Publish')")
    page.wait_for_selector("text=Published.")
    assert service.store.tail() == tail + 1
    page.goto("/pages/publish?type=car")
    assert page.get_by_label("brand").input_value() == "", "it was there once"


def test_a_filter_that_was_half_written(service: Service, page: Page) -> None:
    register(page, "writer")
    page.wait_for_selector(".brow")
    page.fill("#text", "brand = mini")
    expect(page.locator("#count")).to_contain_text("event")
    end_sessions(service, "writer")
    page.fill("#text", "brand = 'mini' and paint = '\"><script>alert(1)</script>'")
    page.wait_for_selector("text=when you save, you are asked to log in")
    page.click("#save")
    _log_in_again(page, "writer")
    assert page.url.endswith("/pages/subscriptions/new")
    expect(page.locator("#text")).to_have_value("brand = 'mini' and paint = '\"><script>alert(1)</script>'")
    expect(page.locator(".brow")).to_have_count(2)
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")


def test_the_schemas_growth_with_more_rows_than_the_form_has_at_first(service: Service, page: Page) -> None:
    register(page, "grower")
    page.goto("/pages/schema/grow/event-type")
    page.fill("#name", "lot & <more>")
    page.click("text=More rows")
    page.select_option("[name=attribute0]", "price")
    page.check("[name=mandatory0]")
    page.click("text=More rows")
    page.select_option("[name=attribute6]", "title")
    page.check("[name=several6]")
    end_sessions(service, "grower")
    page.click("button:has-text('Add an event type')")
    _log_in_again(page, "grower")
    assert page.input_value("#name") == "lot & <more>"
    assert page.input_value("[name=attribute6]") == "title"
    assert page.is_checked("[name=mandatory0]")
    assert page.is_checked("[name=several6]")
    assert not page.is_checked("[name=mandatory6]")


def test_passwords_are_never_written_into_a_page(service: Service, page: Page) -> None:
    register(page, "cleo")
    page.goto("/pages/account")
    page.fill("#name", "importer")
    page.fill("#token_password", PASSWORD)
    end_sessions(service, "cleo")
    page.click("button:has-text('Create token')")
    page.wait_for_selector("text=nothing was sent")
    assert PASSWORD not in page.content()
    _log_in_again(page, "cleo")
    assert page.input_value("#name") == "importer"
    assert page.input_value("#token_password") == ""
    names = {
        found[1]
        for template in TEMPLATES.glob("*.html")
        for field in re.findall(r"<input[^>]*>", template.read_text())
        if 'type="password"' in field and (found := re.search(r' name="(\w+)"', field))
    }
    assert names
    assert names <= SECRET_FIELDS


def test_another_sites_words_are_not_carried_through_the_log_in(service: Service, page: Page) -> None:
    """A form from elsewhere comes without the cookie and names its origin; here as a request of ours would look."""
    page.goto("/pages/login")
    proof = page.get_attribute("body", "data-proof")
    assert proof
    form = {"text": "brand = 'planted'", "key": "k", "proof": proof}
    answers = [
        page.request.post("/pages/subscriptions/new", form=form, headers={"Origin": origin}, max_redirects=0)
        for origin in ("https://evil.example", service.address)
    ]
    assert [answer.status for answer in answers] == [303, 401]
    assert "planted" not in answers[0].text()
    assert "planted" in answers[1].text()
    large = page.request.post(
        "/pages/subscriptions/new",
        form=form | {"text": "x" * 70_000},
        headers={"Origin": service.address},
        max_redirects=0,
    )
    assert large.status == 303


def test_a_form_of_another_tab_after_a_new_log_in(service: Service, page: Page) -> None:
    register(page, "fay")
    page.wait_for_selector(".brow")
    other = page.context.new_page()
    other.goto("/")
    other.click("text=Log out")
    log_in(other, "fay")
    page.fill("#text", "brand = 'mini' and year > 1990")
    expect(page.locator("#count")).to_contain_text("event")
    page.click("#save")
    page.wait_for_selector(f"text={_STILL_THERE}")
    expect(page.locator("#text")).to_have_value("brand = 'mini' and year > 1990")
    other.goto("/")
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    page.click("text=Log out")
    page.wait_for_selector("a:has-text('Log in')")
    other.click("text=Log out")
    other.wait_for_selector("a:has-text('Log in')")


def test_a_newcomer_keeps_the_example(service: Service, page: Page) -> None:
    page.goto("/pages/subscriptions/new?filter=brand+%3D+mini")
    page.click("main a:has-text('Create account')")
    page.fill("#username", "gil")
    page.fill("#password", PASSWORD)
    page.fill("#again", PASSWORD)
    page.click("main button:has-text('Create account')")
    expect(page.locator("#text")).to_have_value("brand = mini")
    expect(page.locator(".brow")).to_have_count(1)


@pytest.mark.slow
def test_what_is_live_says_that_the_session_is_over(service: Service, page: Page) -> None:
    register(page, "dora")
    id = subscribe(page, "brand = mini")
    page.wait_for_selector(".live.on")
    home = page.context.new_page()
    home.goto("/")
    home.wait_for_selector("text=What is happening now")
    end_sessions(service, "dora")
    service.client.post("/v1/events", json=car("late"))
    home.wait_for_selector("#ended >> text=Log in again")
    assert home.locator("text=What is happening now").is_visible(), "what was on the screen stays"
    page.wait_for_selector("#ended >> text=Log in again")
    expect(page.locator(".live .told")).to_have_text("no longer live")
    page.click("#ended a")
    page.fill("#username", "dora")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_selector(".live.on")
    assert f"/pages/subscriptions/{id}" in page.url


def test_a_press_on_pause_leads_back_to_its_subscription(service: Service, page: Page) -> None:
    register(page, "eve")
    id = subscribe(page, "brand = mini")
    end_sessions(service, "eve")
    page.click("button:has-text('Pause')")
    page.wait_for_selector("text=nothing was done")
    assert "what you typed" not in page.inner_text("main"), "nothing was"
    expect(page.locator("#username")).to_have_value("eve")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_selector("text=Nothing was done because you have a new session")
    assert page.url.partition("?")[0].endswith(id)
    assert service.store.subscription(id).state == "active"
