"""Pages that go on by themselves: not under the hand, not too chatty, and without a connection while hidden."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import log_in, matched, register, subscribe
from tests.service.conftest import Service, car, on_sqlite

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
pytestmark = on_sqlite


def _streams(service: Service, wanted: int) -> None:
    """Waits until so many are open."""
    deadline = time.monotonic() + 60
    while (seen := service.app.state.streams.count) != wanted:
        assert time.monotonic() < deadline, f"{seen} streams"
        time.sleep(0.05)


def _hide(page: Page, hidden: bool) -> None:
    """As when another tab is chosen."""
    page.evaluate(
        """(hidden) => {
            Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


def _publish(service: Service, number: int) -> None:
    assert service.client.post("/v1/events", json=car(f"e{number}", year=1900 + number)).status_code == 202


def test_home_leaves_alone_what_the_pointer_or_the_focus_is_at(service: Service, page: Page) -> None:
    register(page, "ann")
    _publish(service, 1)
    page.goto("/")
    events, figures = page.locator("[data-part=events]"), page.locator("[data-part=figures] dd").first
    events.hover()
    _publish(service, 2)
    expect(figures).to_have_text("2")
    assert "1902" not in events.inner_text(), "it would move under the pointer"
    page.mouse.move(0, 0)
    expect(events).to_contain_text("1902")
    events.locator("a").first.focus()
    _publish(service, 3)
    expect(figures).to_have_text("3")
    assert "1903" not in events.inner_text(), "the focus would be lost"
    page.evaluate("document.activeElement.blur()")
    expect(events).to_contain_text("1903")


def test_home_replaces_only_what_has_changed(service: Service, page: Page) -> None:
    register(page, "ann")
    _publish(service, 1)
    page.goto("/")
    page.evaluate("window.kept = document.querySelector('[data-part=matches] h2')")
    page.evaluate("window.gone = document.querySelector('[data-part=figures] dd')")
    _publish(service, 2)
    expect(page.locator("[data-part=events]")).to_contain_text("1902")
    assert page.evaluate("window.kept.isConnected"), "there is no new match"
    assert not page.evaluate("window.gone.isConnected")


def test_a_hidden_page_holds_no_connection_and_misses_nothing(service: Service, page: Page) -> None:
    register(page, "ann")
    id = subscribe(page, "brand = mini")
    page.wait_for_selector(".live.on")
    _streams(service, 1)
    _hide(page, True)
    _streams(service, 0)
    matched(service, id, car("hidden", year=1971))
    _hide(page, False)
    expect(page.locator("#matches > li")).to_have_count(1)
    _streams(service, 1)
    matched(service, id, car("seen", year=1972))
    expect(page.locator("#matches > li")).to_have_count(2)
    expect(page.locator("#matches > li").first).to_contain_text("1972")


def test_new_matches_are_counted_aloud_and_not_read_out(service: Service, page: Page) -> None:
    register(page, "ann")
    id = subscribe(page, "brand = mini")
    page.wait_for_selector(".live.on")
    assert page.locator("#matches").get_attribute("aria-live") is None
    matched(service, id, car("e1", year=1971))
    expect(page.locator("#news")).to_have_text("1 new match")
    for number in (2, 3, 4):
        matched(service, id, car(f"e{number}", year=1971))
    expect(page.locator("#matches > li")).to_have_count(4)
    expect(page.locator("#news")).to_have_text("3 new matches")


def test_what_was_left_out_is_said_and_older_ones_follow_the_last_card(service: Service, page: Page) -> None:
    register(page, "ann")
    id = subscribe(page, "brand = mini")
    page.wait_for_selector(".live.on")
    first = matched(service, id, car("first", year=1970))
    expect(page.locator("#matches > li")).to_have_count(1)
    _hide(page, True)
    _streams(service, 0)
    service.client.post("/v1/events", json=[car(f"e{number}") for number in range(40)])
    service.commit(first + 1, first + 40, [(position, [id]) for position in range(first + 1, first + 41)])
    _hide(page, False)
    gap = page.locator("#matches > li").nth(25)
    expect(gap).to_contain_text("Some matches in between are not shown.")
    expect(page.locator("#matches > li")).to_have_count(27)
    assert page.locator(".pager a[rel=next]").count() == 0

    page.evaluate(
        """() => {
            const list = document.getElementById("matches");
            while (list.children.length < 200) list.append(list.lastElementChild.cloneNode(true));
        }"""
    )
    matched(service, id, car("last", year=1999))
    expect(page.locator("#matches > li").first).to_contain_text("1999")
    expect(page.locator("#matches > li")).to_have_count(200)
    cursor = page.locator("#matches > li").last.get_attribute("data-cursor")
    assert page.locator(".pager a[rel=next]").get_attribute("href") == f"/pages/subscriptions/{id}?before={cursor}"
    page.click("text=Reload the page")
    expect(page.locator("#matches > li")).to_have_count(25)


def test_the_last_hour_goes_on_above_the_live_matches(service: Service, page: Page) -> None:
    register(page, "ann")
    id = subscribe(page, "brand = mini")
    expect(page.locator(".sparked")).to_contain_text("No matches in the last hour")
    matched(service, id, car("one"))
    expect(page.locator("#matches > li")).to_have_count(1)
    expect(page.locator(".sparked")).to_contain_text("1 match in the last hour")
    assert page.locator(".sparked rect").count() == 1


@pytest.mark.slow
@pytest.mark.parametrize(("address", "piece"), [("/", "/pages/now"), ("/pages/operator", "/pages/operator/now")])
def test_a_service_that_does_not_answer_is_told_until_it_does(
    service: Service, page: Page, address: str, piece: str
) -> None:
    register(page, "ann")
    service.store.change_account("ann", None, frozenset({"subscribe", "operate"}))
    service.gateway.callers.forget()
    log_in(page, "ann")
    page.goto(address)
    told = page.locator("#main > p[role=status]:first-child")
    asked: list[str] = []

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=409)  # an answer that is none; a lost connection would be a complaint in the console

    page.route(f"**{piece}", refuse)
    expect(told).to_have_text(re.compile(r"The service is not responding; this is as of \d\d:\d\d\."))
    assert len(asked) >= 3, "not for one that was lost"
    page.unroute(f"**{piece}")
    expect(told).to_have_count(0)


def test_what_was_done_is_told_once(service: Service, page: Page) -> None:
    register(page, "ann")
    id = subscribe(page, "brand = mini")
    page.wait_for_function("!location.search")
    page.reload()
    expect(page.locator("#matches")).to_be_attached()
    assert page.locator(".notice.good").count() == 0
    page.goto(f"/pages/subscriptions/{id}/deliveries?state=dead&done=replayed&count=3")
    expect(page.locator(".notice.good")).to_have_text("3 deliveries will be sent again.")
    page.wait_for_function("location.search === '?state=dead'")
    page.goto("/pages/subscriptions?q=brand%20%3D&done=deleted")
    page.wait_for_function("!location.search.includes('done')")
    assert page.evaluate("new URLSearchParams(location.search).get('q')") == "brand ="
