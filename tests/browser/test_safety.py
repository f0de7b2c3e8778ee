"""Whatever stands in an event, a filter or a name is text; no page has script or style within it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import log_in, matched, register, subscribe
from tests.service.conftest import PASSWORD, Service, car
from tidings.settings import SCOPES

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'-alert(1)-'",
    "</textarea><svg onload=alert(1)>",
    "{{7*7}}<b>bold</b>",
)
_INLINE = """() => [...document.querySelectorAll('*')].flatMap((node) => [
  ...[...node.attributes].filter((one) => one.name.startsWith('on') || one.name === 'style').map((one) => one.name),
  ...(node.tagName === 'STYLE' || (node.tagName === 'SCRIPT' && !node.src) ? [node.outerHTML] : []),
  ...(/^javascript:/i.test(node.getAttribute('href') ?? '') ? [node.outerHTML] : []),
])"""


@pytest.fixture
def service(shared: Service) -> Service:
    return shared


def test_no_page_holds_or_allows_inline_script_or_style(service: Service, page: Page) -> None:
    policies: dict[str, str] = {}

    def look(address: str) -> None:
        answer = page.goto(address)
        assert answer is not None
        policies[address] = answer.headers.get("content-security-policy", "")
        assert "<style" not in answer.text(), address
        assert " style=" not in answer.text(), address
        page.wait_for_load_state()
        assert page.evaluate(_INLINE) == [], address

    for address in ("/", "/pages/login", "/pages/register", "/pages/schema"):
        look(address)
    policies["/pages/nowhere"] = page.request.get("/pages/nowhere").headers["content-security-policy"]
    register(page, "guard")
    service.store.change_account("guard", None, frozenset(SCOPES))
    page.context.clear_cookies()
    log_in(page, "guard")
    mine = f"/pages/subscriptions/{subscribe(page, 'brand = mini')}"
    for address in ("/", "/pages/publish?type=car", "/pages/subscriptions", "/pages/subscriptions/new", mine):
        look(address)
    for address in (f"{mine}/channel", f"{mine}/deliveries", "/pages/account", "/pages/operator"):
        look(address)
    for address, policy in policies.items():
        parts = dict(part.split(maxsplit=1) for part in policy.split("; "))
        assert parts["script-src"] == parts["style-src"] == parts["default-src"] == "'self'", address
        assert "unsafe" not in policy, address


def test_markup_is_shown_as_text(service: Service, page: Page) -> None:
    """A dialog, or anything on the console, fails the test by itself (`opened`)."""
    page.goto("/pages/register")
    for field, value in (("username", PAYLOADS[1]), ("password", PASSWORD), ("again", PASSWORD)):
        page.fill(f"#{field}", value)
    page.click("main button:has-text('Create account')")
    expect(page.locator("#wrong-username")).to_be_visible()
    assert page.input_value("#username") == PAYLOADS[1]
    register(page, "mallory")
    wanted = " or ".join(f"paint = '{one.replace(chr(39), chr(39) * 2)}'" for one in PAYLOADS)
    id = subscribe(page, wanted)
    first = matched(service, id, car("xss", paint=list(PAYLOADS)))
    addresses = ["/", "/pages/subscriptions", f"/pages/subscriptions/{id}", f"/pages/subscriptions/{id}/why/{first}"]
    addresses += [f"/pages/subscriptions/{id}/edit", f"/pages/events/{first}", "/pages/account"]
    for address in addresses:
        page.goto(address)
        page.wait_for_selector(".brow") if address.endswith("edit") else page.wait_for_load_state()
        body = page.locator("body")
        assert page.locator("main img, main svg[onload], main b:text-is('bold')").count() == 0, address
        if address not in ("/pages/account", "/pages/subscriptions", f"/pages/subscriptions/{id}/edit"):
            for payload in PAYLOADS:
                expect(body).to_contain_text(payload)
    page.goto(f"/pages/subscriptions/{id}")
    page.locator("[data-why]").first.click()
    expect(page.locator(".reasons")).to_contain_text(PAYLOADS[0])
    page.goto("/pages/subscriptions/new")
    page.wait_for_selector(".brow")
    page.fill("#text", PAYLOADS[1])
    expect(page.locator(".caret")).to_contain_text(PAYLOADS[1])
    page.goto("/pages/schema?added=" + PAYLOADS[0])
    page.goto("/pages/login?next=" + PAYLOADS[1])
    assert page.locator("main img").count() == 0
