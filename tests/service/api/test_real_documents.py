"""The news documents and auctions that lie beside this repository, published by HTTP and through the XML port, and
found by path as libxml2 finds them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from tests.feeds.real_files import real_file
from tests.service.conftest import SETTINGS, Service, on_sqlite
from tests.service.xml_served import SETTINGS as XML_SETTINGS
from tests.service.xml_served import Client, served
from tidings.events import EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.schema import json_form
from tidings.settings import Settings
from tidings.store import Grow, Store

NEWS = "http://iptc.org/std/nar/2006-10-01/"
PREFIXES = {"n": NEWS, "f": "http://iptc.org/std/NITF/2006-10-18/"}
GROWTH = [
    {"change": "create_domain", "domain": {"name": "xml", "kind": "document", "namespaces": PREFIXES}},
    {"change": "create_attribute", "attribute": {"name": "document", "domain": "xml"}},
    {"change": "create_event_type", "event_type": {"name": "paper", "attributes": [{"name": "document"}]}},
]
PATHS = (
    "//n:headline",
    "/n:newsItem//n:subject[@qcode]",
    "//n:itemMeta[n:pubStatus/@qcode = 'stat:usable']",
    "//f:nitf//f:p",
    "/n:knowledgeItem//n:concept[n:name]",
    "//n:urgency[. <= 3]",
    "/site/people/person[profile/@income > 50000]/name",
    "//open_auction[bidder and not(reserve)]",
    "//item[contains(description, 'gold')]",
)
DECLARATION = re.compile(rb"\A\xef\xbb\xbf|<\?xml[^>]*\?>")


def files() -> list[Path]:
    news = sorted(real_file("xml-newsml-nitf").glob("*.xml"))
    auctions = [real_file(f"xml-xmark/{name}.xml") for name in ("auction-basex", "xmark-tiny-basex")]
    assert len(news) == 35
    return [*news, *auctions]


@pytest.fixture
def settings() -> Settings:
    return replace(SETTINGS, largest_event=4 << 20)


def grow(store: Store) -> None:
    for change in GROWTH:
        store.append([Grow(json_form.read_change(change))])


def check_found_by_path(store: Store, wanted: list[Path]) -> None:
    """What is stored has what the files have, by libxml2."""
    catalog = store.catalog()
    tail = store.tail()
    stored = store.events_at(range(tail - len(wanted) + 1, tail + 1))
    events = [validate(json.loads(text), catalog) for _, text in sorted(stored.items())]
    assert [one.id for one in events] == [file.name for file in wanted]
    matcher = BoxMatcher(catalog, 1)
    for path in PATHS:
        quoted = path.replace("'", "''")
        matcher.add(Subscription(path, Filter.parse(f"document xpath '{quoted}'", catalog)))
    found = matcher.match(EventBatch.of(events, catalog))
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    total = 0
    for place, file in enumerate(wanted):
        tree = etree.parse(str(file), parser)
        held = {number for number, path in enumerate(PATHS) if tree.xpath(f"boolean({path})", namespaces=PREFIXES)}
        assert set(found.numbers[found.offsets[place] : found.offsets[place + 1]].tolist()) == held, file.name
        total += len(held)
    assert total > 40


@pytest.mark.slow
@on_sqlite
def test_by_http(service: Service) -> None:
    grow(service.store)
    for file in files():
        headers = {"Content-Type": "application/xml"}
        answer = service.client.post(
            "/v1/documents/paper", params={"id": file.name}, content=file.read_bytes(), headers=headers
        )
        assert answer.status_code == 202, (file.name, answer.text)
    check_found_by_path(service.store, files())


def test_through_the_xml_port(tmp_path: Path) -> None:
    with served(str(tmp_path / "tidings.db"), replace(XML_SETTINGS, largest_event=4 << 20)) as daemon:
        grow(daemon.store)
        token = daemon.join("ann")
        with Client(daemon.port) as client:
            for file in files():
                document = DECLARATION.sub(b"", file.read_bytes()).decode()
                answer = client.ask(
                    f'<PUBLISH_EVENT id="{file.name}" token="{token}"><EVENT_TYPE><VALUE type="paper"/></EVENT_TYPE>'
                    f'<ATTRIBUTES><ATTR type="document">{document}</ATTR></ATTRIBUTES></PUBLISH_EVENT>'
                )
                assert answer.tag == "OK", (file.name, answer.attrib)
        check_found_by_path(daemon.store, files())
