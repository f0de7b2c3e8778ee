"""A real Chromium on a real service. What it complains of, and whatever it asks of another host, fails the test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.service.conftest import PASSWORD, SETTINGS, Service, server, service, settings, url  # noqa: F401  (fixtures)
from tests.services.missing import missing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 60_000  # milliseconds; the machine may be busy
DESKTOP, PHONE = (1280, 860), (360, 740)
_ANSWERS = ("401", "409", "422")  # a refused form, or a session that has ended, is an answer and no defect


@pytest.fixture(
    scope="module"
)  # not longer: while Playwright is open, no test of this process can run a loop of its own
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (pip install playwright)"
    )
    if CHROMIUM is None:
        missing("Chromium is not installed (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as running:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        playwright.expect.set_options(timeout=PATIENCE)
        launched = running.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield launched
        launched.close()


Opened = Callable[..., "Page"]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for many modules, each test with people of its own: starting one, with the processes that count what
    a filter would match, takes longer than most tests."""
    folder = tmp_path_factory.mktemp("shared")
    store = str(folder / "tidings.db")
    # A mail server is named, so that email can be chosen; nothing is sent there.
    mails = {"smtp_host": "127.0.0.1", "mail_from": "tidings@example.org"}
    allowed = replace(SETTINGS, allow_loopback_webhooks=True, webhook_handshake="none", **mails)
    running = Service(store, replace(allowed, store=store, data=folder))
    running.start()
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def opened(browser: Browser, service: Service) -> Iterator[Opened]:  # noqa: F811
    """`opened(size=…, scheme=…)` gives a new page, as of another person."""
    complaints: list[str] = []
    contexts = []

    def asked(address: str) -> None:
        if urlsplit(address).netloc != urlsplit(service.address).netloc:
            complaints.append(f"asked of another host: {address}")

    def said(message: ConsoleMessage) -> None:
        refused = message.text.startswith("Failed to load resource") and any(s in message.text for s in _ANSWERS)
        if message.type in ("error", "warning") and not refused:
            complaints.append(message.text)

    def open(size: tuple[int, int] = DESKTOP, scheme: str = "light", script: bool = True) -> Page:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,  # type: ignore[arg-type]
            base_url=service.address,
            java_script_enabled=script,
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("request", lambda request: asked(request.url))
        page.on("console", said)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
        return page

    yield open
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def page(opened: Opened) -> Page:
    return opened()


def register(page: Page, username: str) -> Page:
    page.goto("/pages/register")
    page.fill("#username", username)
    page.fill("#password", PASSWORD)
    page.fill("#again", PASSWORD)
    page.click("button:has-text('Create account')")
    page.wait_for_url("**/pages/subscriptions/new")
    return page


def log_in(page: Page, username: str) -> Page:
    page.goto("/pages/login")
    page.fill("#username", username)
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_selector("text=Log out")
    return page


def end_sessions(service: Service, username: str) -> None:  # noqa: F811
    """As when they had become too old."""
    for token in service.store.tokens_of(username):
        service.store.remove_token(token.digest)
    service.gateway.callers.forget()


def subscribe(page: Page, filter: str) -> str:
    """The id."""
    page.goto("/pages/subscriptions/new")
    page.wait_for_selector(".brow")
    page.fill("#text", filter)
    page.click("#save")
    page.wait_for_selector("text=Subscribed. Every event")
    return page.url.rpartition("/")[2].partition("?")[0]


def matched(service: Service, id: str, event: dict[str, Any]) -> int:  # noqa: F811
    """The position of the event, which was published and has matched this subscription."""
    answer = service.client.post("/v1/events", json=event)
    assert answer.status_code == 202, answer.text
    position = int(answer.json()["position"])
    service.commit(service.store.committed() + 1, position, [(position, [id])])
    return position
