"""Channels: a webhook that fails, seen by its owner and by the operator; a changed mind; what asks first; the bar."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PHONE, Opened, log_in, matched, register, subscribe
from tests.service.conftest import PASSWORD, Service, car
from tests.service.delivering import send
from tests.service.receiver import receiver
from tidings.store.tables import notices

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
    page.click("summary:has-text('More')")
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
    page.wait_for_selector("text=Paused. Deliveries wait")
    page.click("main button:has-text('Resume')")
    channel = service.store.channel(id, "harry")
    assert channel is not None
    assert channel.state == "active"


def test_the_operators_page_is_nobody_elses(service: Service, page: Page) -> None:
    register(page, "henry")
    assert page.locator("nav a:has-text('Operator')").count() == 0
    answer = page.request.get("/pages/operator")
    assert answer.status == 404


def test_a_changed_mind_hinders_nothing(service: Service, page: Page) -> None:
    register(page, "hilda")
    id = subscribe(page, "brand = mini")
    page.goto(f"/pages/subscriptions/{id}/channel")
    page.select_option("#kind", "email")
    page.fill("#address", "foo")
    page.click("summary:has-text('More')")
    page.fill("#digest_count", "x")
    page.select_option("#kind", "webhook")
    page.fill("#digest_count", "")
    page.fill("#url", "http://127.0.0.1:9/hook")
    page.click("main button:has-text('Save')")
    expect(page.locator("code.secret")).to_be_visible()
    page.goto(f"/pages/subscriptions/{id}/channel")
    page.click("summary:has-text('More')")
    page.fill("#digest_count", "x")
    page.select_option("#kind", "stored")
    page.click("main button:has-text('Save')")
    expect(page.locator("main")).to_contain_text("Saved.")
    assert service.store.subscription(id).delivery == ""


@pytest.mark.parametrize("size", [PHONE, (1280, 860)], ids=["phone", "desk"])
def test_what_asks_first_opens_within_reach(service: Service, opened: Opened, size: tuple[int, int]) -> None:
    page = register(opened(size=size), f"hanna{size[0]}")
    id = subscribe(page, "brand = mini")
    page.goto(f"/pages/subscriptions/{id}/channel")
    page.select_option("#kind", "webhook")
    page.fill("#url", "http://127.0.0.1:9/hook")
    page.click("main button:has-text('Save')")
    first = page.locator("code.secret").inner_text()
    page.click("summary:has-text('Send all failed again')")
    _within(page, "button:has-text('Yes, send them again')")
    page.click("summary:has-text('New secret')")
    _within(page, "button:has-text('Yes, create a new one')")
    page.goto("/pages/account")
    page.click("summary:has-text('New secret')")
    _within(page, "button:has-text('Yes, create a new one')")
    page.click("button:has-text('Yes, create a new one')")
    expect(page.locator("code.secret")).not_to_have_text(first)
    page.goto("/pages/account")
    page.fill("#name", "a program")
    page.fill("#token_password", PASSWORD)
    page.click("button:has-text('Create token')")
    page.click("summary:has-text('Remove')")
    _within(page, "button:has-text('Yes, remove it')")
    page.click("button:has-text('Yes, remove it')")
    expect(page.locator("main")).to_contain_text("Token removed.")


def _within(page: Page, button: str) -> None:
    """Nothing covers or clips it, and nobody has to scroll sideways for it."""
    page.click(button, trial=True)
    assert page.evaluate("[...document.querySelectorAll('.card')].every((card) => card.scrollTop === 0)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_bar_has_two_lines_on_a_phone(service: Service, opened: Opened) -> None:
    page = register(opened(size=PHONE), "hermione-of-the-long-name")
    everything = frozenset({"publish", "subscribe", "operate"})
    service.store.change_account("hermione-of-the-long-name", None, everything)
    with service.store.database.writing("outbox") as connection:
        connection.execute(notices.insert().values((12_001, "hermione-of-the-long-name", "s", "gone", 1, 0)))
    page.context.clear_cookies()
    log_in(page, "hermione-of-the-long-name")
    expect(page.locator(".unread-count")).to_have_text("1 new")
    lines = page.evaluate(
        "() => [...document.querySelectorAll('.bar .brand, .bar a, .bar button')].map((one) => {"
        " const box = one.getBoundingClientRect(); return Math.round((box.top + box.bottom) / 2); })"
    )
    assert max(lines) - min(lines) < 60
    assert len({round(line / 12) for line in lines}) == 2, lines
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
