"""What is wrong is said at its field, what was typed stays, and a keyboard is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Opened, register
from tests.service.conftest import PASSWORD, Service

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect

_FOCUS = """() => {
  const node = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  return { id: node.id, label: node.getAttribute('aria-label') ?? '', text: node.textContent.trim(),
           seen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
}"""


@pytest.fixture
def service(shared: Service) -> Service:
    return shared


def _wrong_at(page: Page, field: str) -> str:
    """What stands at the field, which says so to those who cannot see it too."""
    node = page.locator(f"#{field}")
    expect(node).to_have_attribute("aria-invalid", "true")
    place = node.get_attribute("aria-describedby")
    assert place is not None
    return page.locator(f"#{place}").inner_text()


def test_registering_wrongly(service: Service, page: Page) -> None:
    page.goto("/pages/register")
    page.fill("#username", "tester")
    page.fill("#password", PASSWORD)
    page.fill("#again", "another one than that")
    page.click("main button:has-text('Create account')")
    assert "differ" in _wrong_at(page, "again")
    assert page.input_value("#username") == "tester"
    page.fill("#password", PASSWORD)
    page.fill("#again", PASSWORD)
    page.click("main button:has-text('Create account')")
    assert "tester" in _wrong_at(page, "username")


def test_an_event_with_something_missing_and_something_wrong(service: Service, page: Page) -> None:
    register(page, "wilma")
    page.goto("/pages/publish?type=car")
    page.evaluate("document.querySelector('main form').noValidate = true")  # as a browser that checks nothing
    page.evaluate("document.querySelector(\"[name='value:year']\").type = 'text'")
    page.locator("[name='value:year']").fill("long ago")
    page.locator("[name='value:paint']").first.fill("<i>red</i>")
    page.click("main button:has-text('Publish')")
    page.wait_for_selector(".wrong")
    for name in ("brand", "year"):
        field = page.locator(f"[name='value:{name}']")
        expect(field).to_have_attribute("aria-invalid", "true")
        said = page.locator(f"[id='{field.get_attribute('aria-describedby')}']")
        assert ("'long ago'" if name == "year" else "Enter a value.") in said.inner_text()
    assert page.locator("[name='value:paint']").first.input_value() == "<i>red</i>"


def test_a_wrong_filter_is_shown_with_its_caret_also_without_script(service: Service, opened: Opened) -> None:
    for script in (True, False):
        page = register(opened(script=script), f"xenia{script:d}")
        if script:
            page.wait_for_selector(".brow")
        page.fill("#text", "brand = mini and prise > 3")
        page.click("#save")
        page.wait_for_selector("text=no attribute 'prise'")
        picture = page.locator(".caret").inner_text().rstrip().split("\n")
        assert picture[-2].index("prise") == picture[-1].index("^"), picture
        assert page.input_value("#text") == "brand = mini and prise > 3"
        assert page.get_attribute("#text", "aria-invalid") == "true"


def test_growing_wrongly(service: Service, page: Page) -> None:
    register(page, "yara")
    page.goto("/pages/schema/grow/domain")
    page.fill("#name", "shape")
    page.select_option("#kind", "text")
    page.check("[name=operator][value='contains']")
    page.select_option("#kind", "enumerated")
    assert page.locator("[name=operator]:visible").count() == 6, "only those of the kind"
    assert page.locator("[name=operator][value='contains']").is_disabled(), "so that it is not sent"
    page.fill("#values", "round\nround")
    page.click("button:has-text('Add a domain')")
    assert "round" in _wrong_at(page, "values")
    assert page.input_value("#name") == "shape"
    page.goto("/pages/schema/grow/value?domain=category")
    page.fill("#value", "boat")
    page.fill("#parent", "ships")
    page.click("button:has-text('Add a value')")
    assert "ships" in _wrong_at(page, "parent")
    assert (page.input_value("#value"), page.input_value("#domain")) == ("boat", "category")


def test_two_people_send_the_same_growth_at_the_same_moment(service: Service, opened: Opened) -> None:
    """One of them wins; the other is told at the field, and keeps what was typed."""
    pages = [register(opened(), name) for name in ("zoe", "yves")]
    for page in pages:
        page.goto("/pages/schema/grow/domain")
        page.fill("#name", "wood")
        page.select_option("#kind", "enumerated")
        page.fill("#values", "oak\nash")
    for page in pages:  # the second is sent before the first is answered
        page.evaluate("setTimeout(() => document.querySelector('main form').requestSubmit())")
    for page in pages:
        page.wait_for_selector(".notice.good:has-text('Added: domain wood'), #wrong-name")
    won = [page for page in pages if page.locator(".notice.good").count()]
    lost = [page for page in pages if page not in won]
    assert (len(won), len(lost)) == (1, 1)
    assert "exists already" in _wrong_at(lost[0], "name")
    assert lost[0].input_value("#values") == "oak\nash"
    assert lost[0].input_value("#kind") == "enumerated"
    names = [domain.name for domain in service.store.catalog().domains]
    assert names.count("wood") == 1
    lost[0].fill("#name", "timber")
    lost[0].click("button:has-text('Add a domain')")
    lost[0].wait_for_selector("text=Added: domain timber")
    won[0].reload()
    assert won[0].locator("text=timber").first.is_visible()


def _tab_to(page: Page, wanted: str) -> None:
    """Every stop on the way is seen to have the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        at = page.evaluate(_FOCUS)
        assert at["seen"], at
        if wanted in (at["id"], at["label"], at["text"]):
            return
    raise AssertionError(f"no way by Tab to {wanted}")


def test_subscribing_by_keyboard_alone(service: Service, page: Page) -> None:
    page.goto("/pages/register")
    page.keyboard.press("Tab")
    assert page.evaluate(_FOCUS)["text"] == "Skip to content"
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    for text in ("keys", PASSWORD, PASSWORD):
        page.keyboard.press("Tab")
        page.keyboard.type(text)
    page.keyboard.press("Enter")
    page.wait_for_selector(".brow")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # past the bar
    _tab_to(page, "Attribute")
    for _ in range(20):
        page.keyboard.press("ArrowDown")
        if page.evaluate("document.activeElement.value") == "year":
            break
    _tab_to(page, "Operator")
    page.keyboard.press("ArrowDown")
    _tab_to(page, "Value of year")
    page.keyboard.type("1980")
    _tab_to(page, "And …")
    page.keyboard.press("Space")
    assert page.evaluate(_FOCUS)["label"] == "Attribute", "the new row has the focus"
    for _ in range(20):
        page.keyboard.press("ArrowDown")
        if page.evaluate("document.activeElement.value") == "brand":
            break
    _tab_to(page, "Value of brand")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#text")).to_have_value("year != 1980 and brand = 'opel'")
    _tab_to(page, "save")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Subscribed. Every event")
    assert [one.filter for one in service.store.subscriptions("keys")] == ["year != 1980 and brand = 'opel'"]
    _tab_to(page, "Delete")
    page.keyboard.press("Enter")
    _tab_to(page, "Yes, delete it")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=No subscriptions yet")


def test_tokens_are_made_shown_once_and_taken_back(service: Service, page: Page) -> None:
    register(page, "toni")
    page.goto("/pages/account")
    page.fill("#name", "importer <b>")
    page.uncheck("input[name=scope][value=subscribe]")
    page.fill("#token_password", "not it")
    page.click("button:has-text('Create token')")
    assert _wrong_at(page, "token_password")
    assert page.input_value("#name") == "importer <b>"
    assert not page.is_checked("input[name=scope][value=subscribe]")
    page.fill("#token_password", PASSWORD)
    page.click("button:has-text('Create token')")
    secret = page.locator("code.secret").inner_text()
    with service.anonymous() as program:
        program.headers["Authorization"] = f"Bearer {secret}"
        assert program.get("/v1/accounts/me").status_code == 200
        assert program.get("/v1/subscriptions").status_code == 403
        page.goto("/pages/account")
        assert secret not in page.content()
        page.click("summary[aria-label='Remove importer <b>']")
        page.click("button:has-text('Yes, remove it') >> visible=true")
        page.wait_for_selector("text=Token removed.")
        assert program.get("/v1/accounts/me").status_code == 401
