"""XML documents into a running service: as bodies, as CloudEvents, through the XML port; and what is refused."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.service.conftest import Service, on_sqlite
from tests.service.xml_served import SETTINGS, Client, served
from tidings.schema import json_form
from tidings.store import Grow

XML = {"Content-Type": "application/xml"}
CLOUD = "application/cloudevents+json"
DTD = "<!ELEMENT nitf (title*)><!ELEMENT title (#PCDATA)><!ENTITY eacute '&#233;'>"
NITF = {"name": "nitf", "kind": "document", "grammar": {"dtd": DTD}, "root": "nitf"}
GROWTH = [
    {"change": "create_domain", "domain": NITF},
    {"change": "create_domain", "domain": {"name": "urgencies", "kind": "numeric"}},
    {"change": "create_attribute", "attribute": {"name": "article", "domain": "nitf"}},
    {"change": "create_attribute", "attribute": {"name": "urgency", "domain": "urgencies"}},
    {
        "change": "create_event_type",
        "event_type": {"name": "news", "attributes": [{"name": "article"}, {"name": "urgency", "mandatory": False}]},
    },
]
ARTICLE = "<nitf><title>Storm</title></nitf>"


@pytest.fixture
def news(service: Service) -> Service:
    for change in GROWTH:
        service.store.append([Grow(json_form.read_change(change))])
    return service


def stored(service: Service, position: int) -> Any:
    return json.loads(service.store.events_at([position])[position])


@on_sqlite
def test_a_body_is_a_document(news: Service, client: httpx.Client) -> None:
    head = b"<?xml version='1.0' encoding='iso-8859-1'?>\n<!DOCTYPE nitf SYSTEM 'n.dtd'>\n"
    body = head + b"<nitf ><title>&eacute;\xe9</title></nitf>"
    answer = client.post("/v1/documents/news", params={"id": "a1", "urgency": "2"}, content=body, headers=XML)
    assert answer.status_code == 202, answer.text
    event = stored(news, answer.json()["position"])
    assert event["id"] == "a1"
    assert event["attributes"] == {"article": "<nitf><title>éé</title></nitf>", "urgency": 2}
    again = client.post("/v1/documents/news", params={"id": "a1"}, content=ARTICLE, headers=XML)
    assert again.json()["duplicate"]


@on_sqlite
@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<nitf>\n <title></nitf>", "line 2, column 11: mismatched tag"),
        (b"<nitf>\n  <p/></nitf>", "line 1, column 1: not valid for the domain's grammar"),
        (b"<news/>", "the root element is 'news'; expected 'nitf'"),
        (b'<!DOCTYPE l [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><l>&c;</l>', "internal declarations"),
        (b"<nitf><title>&unknown;</title></nitf>", "undefined entity"),
        (b"<nitf>\xff</nitf>", "line 1, column 7: not UTF-8"),
        (b"<nitf>" * 101 + b"</nitf>" * 101, "100 nested elements"),
        (b"", "no element found"),
    ],
)
def test_what_is_refused_says_where(news: Service, client: httpx.Client, body: bytes, told: str) -> None:
    tail = news.store.tail()
    answer = client.post("/v1/documents/news", content=body, headers=XML)
    assert answer.status_code == 422
    assert told in answer.text
    assert news.store.tail() == tail


@on_sqlite
def test_what_cannot_be_a_document_event(news: Service, client: httpx.Client) -> None:
    assert client.post("/v1/documents/car", content=ARTICLE, headers=XML).status_code == 422
    assert client.post("/v1/documents/nothing", content=ARTICLE, headers=XML).status_code == 422
    assert client.post("/v1/documents/news", json={}).status_code == 415
    answer = client.post("/v1/documents/news", params={"urgency": "high"}, content=ARTICLE, headers=XML)
    assert answer.status_code == 422
    assert "'urgency'" in answer.text


@on_sqlite
def test_cloud_events_with_xml(news: Service, client: httpx.Client) -> None:
    head = {"specversion": "1.0", "id": "c1", "source": "/s", "type": "news", "urgency": 3}
    kind = {"datacontenttype": "application/xml"}
    structured = [
        {**head, **kind, "data": ARTICLE},
        {**head, **kind, "id": "c2", "data_base64": base64.b64encode(ARTICLE.encode()).decode()},
    ]
    for one in structured:
        answer = client.post("/v1/events", content=json.dumps(one), headers={"Content-Type": CLOUD})
        assert answer.status_code == 202, answer.text
        assert stored(news, answer.json()["position"])["attributes"] == {"article": ARTICLE, "urgency": 3}
    binary = {"ce-specversion": "1.0", "ce-id": "c3", "ce-source": "/s", "ce-type": "news", **XML}
    answer = client.post("/v1/events", content=ARTICLE, headers=binary)
    assert answer.status_code == 202, answer.text
    assert stored(news, answer.json()["position"])["attributes"] == {"article": ARTICLE}
    broken = json.dumps({**head, **kind, "id": "c4", "data": {"a": 1}})
    assert client.post("/v1/events", content=broken, headers={"Content-Type": CLOUD}).status_code == 422


def test_a_document_stands_inline_in_an_xml_request(tmp_path: Path) -> None:
    with served(str(tmp_path / "tidings.db"), SETTINGS) as daemon:
        for change in GROWTH:
            daemon.store.append([Grow(json_form.read_change(change))])
        token = daemon.join("ann")
        with Client(daemon.port) as client:
            for id, written in (("x1", ARTICLE), ("x2", ARTICLE.replace("<", "&lt;"))):
                answer = client.ask(request(id, token, written))
                assert answer.tag == "OK", answer.attrib
            tail = daemon.store.tail()
            event = json.loads(daemon.store.events_at([tail])[tail])
            assert event["attributes"] == {"article": ARTICLE, "urgency": 2}
            for wrong, told in (("<nitf><p/></nitf>", "not valid for the domain"), (ARTICLE * 2, "takes one document")):
                answer = client.ask(request("x3", token, wrong))
                assert answer.tag == "ERROR"
                assert told in " ".join(answer.itertext()) + str(dict(answer.attrib))
            assert daemon.store.tail() == tail


def request(id: str, token: str, document: str) -> str:
    return (
        f'<PUBLISH_EVENT id="{id}" token="{token}"><EVENT_TYPE><VALUE type="news"/></EVENT_TYPE><ATTRIBUTES>'
        f'<ATTR type="article">{document}</ATTR><ATTR type="urgency">2</ATTR></ATTRIBUTES></PUBLISH_EVENT>'
    )
