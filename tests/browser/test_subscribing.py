"""The page for subscribing: what a filter would have matched, and how to be notified, in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import DESKTOP, PHONE, Opened, register
from tests.service.conftest import Service, car
from tests.service.receiver import receiver

if TYPE_CHECKING:
    from playwright.sync_api import Page

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


@pytest.fixture
def service(shared: Service) -> Service:
    for year in (1931, 1932, 1933, 1934):
        assert shared.client.post("/v1/events", json=car(f"old-{year}", year=year)).status_code in (200, 202)
    return shared


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_webhook_in_the_same_step(service: Service, opened: Opened, size: tuple[int, int]) -> None:
    user = f"wanda{size[0]}"
    page = register(opened(size=size), user)
    page.fill("#text", "year < 1934")
    expect(page.locator("#newest li")).to_have_count(3)
    expect(page.locator("#newest li").first).to_contain_text("1933")
    expect(page.locator("#url")).to_be_hidden()
    expect(page.locator("#quiet_from")).to_be_hidden()
    page.select_option("#kind", "webhook")
    page.fill("#url", "ftp://example.org/hook")
    page.click("summary:has-text('More')")
    page.fill("#digest_count", "5")
    page.fill("#digest_seconds", "60")
    page.click("#save")
    expect(page.locator("#wrong-url")).to_be_visible()
    expect(page.locator("#digest_count")).to_be_visible()  # what was given behind "More" is not hidden again
    assert page.input_value("#text") == "year < 1934"
    assert service.store.subscriptions(user) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing reaches over the edge"
    with receiver() as hook:
        page.fill("#url", hook.url)
        page.click("#save")
        page.wait_for_selector("text=Subscribed. Every event")
        assert page.locator("code.secret").inner_text().startswith("whsec_")
        (standing,) = service.store.subscriptions(user)
        channel = service.store.channel(standing.id, user)
        assert channel is not None
        assert (channel.kind, channel.settings["url"]) == ("webhook", hook.url)
        assert channel.settings["digest"] == {"count": 5, "seconds": 60}


def test_what_would_match_follows_the_filter(service: Service, page: Page) -> None:
    register(page, "wenke")
    page.fill("#text", "year = 1931")
    expect(page.locator("#newest li").first).to_contain_text("1931")
    page.fill("#text", "year = 1932")
    expect(page.locator("#newest li").first).to_contain_text("1932")
    page.fill("#text", "year = = 1932")
    expect(page.locator("#newest li")).to_have_count(0)


def test_without_scripts(service: Service, opened: Opened) -> None:
    page = register(opened(size=PHONE, script=False), "winnie")
    page.fill("#text", "year = 1931")
    page.select_option("#kind", "email")
    page.fill("#address", "winnie@example.org")
    page.click("button:has-text('Check it')")
    expect(page.locator("#count")).to_contain_text("Matches")
    expect(page.locator("#newest li").first).to_contain_text("1931")
    assert page.input_value("#kind") == "email"
    assert page.input_value("#address") == "winnie@example.org"
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    (standing,) = service.store.subscriptions("winnie")
    channel = service.store.channel(standing.id, "winnie")
    assert channel is not None
    assert (channel.kind, channel.state, channel.settings["address"]) == ("email", "unconfirmed", "winnie@example.org")
