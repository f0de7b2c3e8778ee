"""Documents from publishing to the notification, by HTTP and through the XML port, with the pipeline on Spark."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from tests.service.api.test_real_documents import DECLARATION, GROWTH, PREFIXES, files
from tests.service.numbers import register
from tests.service.served import PATIENCE, Served
from tests.service.xml_served import Client

pytestmark = pytest.mark.slow

KEYS = {"create_domain": "domain", "create_attribute": "attribute", "create_event_type": "event_type"}
PLACES = {"create_domain": "domains", "create_attribute": "attributes", "create_event_type": "event-types"}
PATH = "document xpath '/n:newsItem//n:subject[@qcode]' and document not xpath '//f:nitf'"
LIBXML2 = "/n:newsItem//n:subject[@qcode]"


def test_documents_are_matched_by_path(tmp_path: Path) -> None:
    small = [file for file in files() if file.stat().st_size < 200_000]
    with Served(tmp_path) as served:
        token = register(served, "ann")
        for change in GROWTH:
            kind = str(change["change"])
            status, answer = served.ask("POST", f"/v1/schema/{PLACES[kind]}", change[KEYS[kind]], token)
            assert status == 201, answer
        status, subscription = served.ask("POST", "/v1/subscriptions", {"filter": PATH}, token)
        assert status == 201, subscription
        with Client(served.xml_port) as client:
            for number, file in enumerate(small):
                if number % 2:
                    assert publish(served, token, file) == 202
                    continue
                document = DECLARATION.sub(b"", file.read_bytes()).decode()
                answer = client.ask(
                    f'<PUBLISH_EVENT id="{file.name}" token="{token}"><EVENT_TYPE><VALUE type="paper"/></EVENT_TYPE>'
                    f'<ATTRIBUTES><ATTR type="document">{document}</ATTR></ATTRIBUTES></PUBLISH_EVENT>'
                )
                assert answer.tag == "OK", file.name
        served.wait_until_running()
        wanted = {file.name for file in small if holds(file)}
        assert len(wanted) > 3
        page: dict[str, Any] = {"items": [], "next": ""}
        found: list[str] = []
        while len(found) < len(wanted):
            status, page = served.ask("GET", f"/v1/notifications?wait=10&after={page['next']}", token=token)
            assert status == 200
            found += [one["event"]["id"] for one in page["items"]]
        assert set(found) == wanted
        assert served.stop() == 0
        assert served.errors == ""


def holds(file: Path) -> bool:
    tree = etree.parse(str(file))
    return bool(tree.xpath(LIBXML2, namespaces=PREFIXES)) and not tree.xpath("//f:nitf", namespaces=PREFIXES)


def publish(served: Served, token: str, file: Path) -> int:
    connection = HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    headers = {"Content-Type": "application/xml", "Authorization": f"Bearer {token}"}
    name = file.name.replace(" ", "%20")
    connection.request("POST", f"/v1/documents/paper?id={name}", file.read_bytes(), headers)
    answer = connection.getresponse()
    told = json.loads(answer.read())
    assert told["id"] == file.name
    connection.close()
    return answer.status
