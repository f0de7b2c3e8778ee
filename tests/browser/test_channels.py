"""A webhook that fails, seen by its owner and by the operator."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import log_in, matched, register, subscribe
from tests.service.conftest import Service, car
from tests.service.delivering import send
from tests.service.receiver import receiver

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


@pytest.fixture
def service(shared: Service) -> Service:
    return shared


def _send(service: Service) -> None:
    """In a thread: this one has Playwright's loop."""
    sending = threading.Thread(target=send, args=(service,))
    sending.start()
    sending.join(60)
    assert not sending.is_alive()


def test_a_webhook_from_choosing_it_to_its_dead_letters(service: Service, page: Page) -> None:
    register(page, "harry")
    id = subscribe(page, "brand = mini")
    page.click("main a:has-text('Deliveries')")
    page.click("text=Choose a channel")
    expect(page.locator("#url")).to_be_hidden()
    page.select_option("#kind", "webhook")
    page.fill("#url", "ftp://example.org/hook")
    page.fill("#digest_count", "5")
    page.fill("#digest_seconds", "1")
    page.click("main button:has-text('Save')")
    expect(page.locator("#wrong-url")).to_be_visible()
    assert page.input_value("#digest_count") == "5"
    with receiver(status=500) as hook:
        page.fill("#digest_count", "")
        page.fill("#digest_seconds", "")
        page.fill("#url", hook.url)
        page.click("main button:has-text('Save')")
        secret = page.locator("code.secret").inner_text()
        assert secret.startswith("whsec_")
        matched(service, id, car("hooked"))
        _send(service)
        hook.wait(1)[0].verify(secret)
    page.goto(f"/pages/subscriptions/{id}/deliveries")
    assert secret not in page.content()
    page.locator("details summary:has-text('1 match')").first.click()
    expect(page.locator("main")).to_contain_text("500")

    service.store.change_account("harry", None, frozenset({"publish", "subscribe", "operate"}))
    page.context.clear_cookies()
    log_in(page, "harry")
    page.click("nav a:has-text('Operator')")
    page.wait_for_selector("h1:has-text('Operator')")
    expect(page.locator("main")).to_contain_text("webhook")
    expect(page.locator("main")).to_contain_text("127.0.0.1")
    expect(page.locator("main")).to_contain_text(f"{service.store.tail():,}")

    page.goto(f"/pages/subscriptions/{id}/deliveries")
    page.click("main button:has-text('Pause sending')")
    page.wait_for_selector("text=Nothing is sent for now")
    page.click("main button:has-text('Resume')")
    channel = service.store.channel(id, "harry")
    assert channel is not None
    assert channel.state == "active"


def test_the_operators_page_is_nobody_elses(service: Service, page: Page) -> None:
    register(page, "henry")
    assert page.locator("nav a:has-text('Operator')").count() == 0
    answer = page.request.get("/pages/operator")
    assert answer.status == 404
