"""The news documents and auctions beside this repository, subscribed to by choosing on the page, published by HTTP and
through the XML port, and seen on the page as they are matched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lxml import etree

from tests.browser.conftest import PATIENCE, register
from tests.service.api.test_real_documents import DECLARATION, GROWTH, PREFIXES, files
from tests.service.conftest import PASSWORD
from tests.service.served import Served
from tests.service.test_documents_round import KEYS, PLACES, publish
from tests.service.xml_served import Client

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_PEOPLE = "/site/people/person[profile/@income > 50000]/name"
pytestmark = pytest.mark.slow
expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


def test_documents_are_chosen_by_path_and_seen_live(browser: Browser, tmp_path: Path) -> None:
    trees = {file: etree.parse(str(file)) for file in files()}
    first, *news = (file for file, tree in trees.items() if tree.xpath("//n:headline", namespaces=PREFIXES))
    auctions = [file for file, tree in trees.items() if tree.xpath(_PEOPLE)]
    assert max(file.stat().st_size for file in auctions) > 1_000_000
    wanted = [*auctions, *news]
    others = [*auctions, *(file for file in trees if file != first and file not in auctions)]
    assert 3 < len(wanted) < 25, "a page has 25"
    with Served(tmp_path, TIDINGS_LARGEST_EVENT=str(4 << 20)) as served:
        context = browser.new_context(base_url=f"http://127.0.0.1:{served.port}")
        context.set_default_timeout(2 * PATIENCE)
        page = register(context.new_page(), "ann")
        status, made = served.ask("POST", "/v1/tokens", {"username": "ann", "password": PASSWORD})
        assert status == 201, made
        token = made["token"]
        for change in GROWTH:
            kind = str(change["change"])
            status, answer = served.ask("POST", f"/v1/schema/{PLACES[kind]}", change[KEYS[kind]], token)
            assert status == 201, answer
        assert publish(served, token, first) == 202, "its names are offered"
        served.wait_until_running()
        page.goto("/pages/subscriptions/new")
        page.select_option("select[aria-label=Attribute]", "document")
        page.get_by_label("Next step of document").select_option("//n:headline")
        expect(page.locator("#text")).to_have_value("document xpath '//n:headline'")
        page.fill("#text", f"document xpath '//n:headline' or document xpath '{_PEOPLE}'")
        page.click("#save")
        page.wait_for_selector("text=Subscribed. Every event")
        page.wait_for_selector(".live.on")
        with Client(served.xml_port) as client:
            for number, file in enumerate(others):
                if number % 2:
                    assert publish(served, token, file) == 202
                    continue
                document = DECLARATION.sub(b"", file.read_bytes()).decode()
                answer = client.ask(
                    f'<PUBLISH_EVENT id="{file.name}" token="{token}"><EVENT_TYPE><VALUE type="paper"/></EVENT_TYPE>'
                    f'<ATTRIBUTES><ATTR type="document">{document}</ATTR></ATTRIBUTES></PUBLISH_EVENT>'
                )
                assert answer.tag == "OK", file.name
        expect(page.locator(".match")).to_have_count(len(wanted), timeout=2 * PATIENCE)
        page.locator(".match [data-why]").first.click()
        expect(page.locator(".reasons mark").first).to_contain_text("headline")
        context.close()
        assert served.stop() == 0
        assert served.errors == ""
