"""Documents that nobody should be able to hurt a service with, by HTTP and through the XML port: each is refused in
little time, nothing is fetched, nothing is stored, and the next document is taken."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.service.api.test_xml_document_routes import ARTICLE, GROWTH, XML, request
from tests.service.conftest import SETTINGS, Service, on_sqlite
from tests.service.xml_served import SETTINGS as XML_SETTINGS
from tests.service.xml_served import Client, served
from tidings.schema import json_form
from tidings.settings import Settings
from tidings.store import Grow, Store

LARGEST = 16 << 20
SECONDS = 20
LAUGHS = "<!ENTITY e0 'ha'>" + "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 10))
Documents = list[tuple[str, bytes, tuple[str, ...]]]


def bad(address: str) -> Documents:
    """What each is, the document, and words that one of the answers has."""
    outside = f"<!DOCTYPE nitf [<!ENTITY x SYSTEM '{address}'>]><nitf><title>&x;</title></nitf>"
    subset = f"<!DOCTYPE nitf SYSTEM '{address}' [<!ENTITY % x SYSTEM '{address}'>%x;]><nitf/>"
    dtd = f"<!DOCTYPE nitf SYSTEM '{address}'><nitf><title>&x;</title></nitf>"
    include = f"<nitf xmlns:i='http://www.w3.org/2001/XInclude'><i:include href='{address}'/></nitf>"
    attributes = "<nitf " + " ".join(f"b{n}=''" for n in range(1_000_000)) + "/>"
    declarations = ("internal declarations", "document type", "DOCTYPE")
    return [
        ("laughs", f"<!DOCTYPE nitf [{LAUGHS}]><nitf><title>&e9;</title></nitf>".encode(), declarations),
        ("an external entity", outside.encode(), declarations),
        ("a subset", subset.encode(), declarations),
        ("an entity of an external DTD", dtd.encode(), ("undefined entity", *declarations)),
        ("an inclusion", include.encode(), ("not valid for the domain's grammar",)),
        ("a million attributes", attributes.encode(), ("1,000 attributes", "32 attributes")),
        ("a million levels", b"<nitf>" * 1_000_000, ("100 nested elements", "more than 64 deep")),
        ("broken UTF-8", b"<nitf><title>\xc3(</title></nitf>", ("UTF-8", "Invalid bytes in character encoding")),
        ("not of the grammar", b"<nitf><p/></nitf>", ("not valid for the domain's grammar",)),
    ]


@pytest.fixture
def settings() -> Settings:
    return replace(SETTINGS, largest_event=LARGEST)


def grow(store: Store) -> None:
    for change in GROWTH:
        store.append([Grow(json_form.read_change(change))])


def check_refused(store: Store, publish: Callable[[bytes], str]) -> None:
    """`publish` returns what was answered, "" if the document was taken."""
    tail = store.tail()
    with socket.create_server(("127.0.0.1", 0)) as outside:
        outside.setblocking(False)
        for name, document, words in bad(f"http://127.0.0.1:{outside.getsockname()[1]}/x.dtd"):
            started = time.process_time()
            answer = publish(document)
            assert any(word in answer for word in words), (name, answer[:500])
            assert time.process_time() - started < SECONDS, name
            assert store.tail() == tail, name
        with pytest.raises(BlockingIOError):  # nobody came
            outside.accept()
    assert publish(ARTICLE.encode()) == ""
    assert store.tail() == tail + 1


@on_sqlite
def test_by_http(service: Service) -> None:
    grow(service.store)
    service.client.timeout = 300  # a million attributes on a busy machine

    def publish(document: bytes) -> str:
        answer = service.client.post("/v1/documents/news", content=document, headers=XML)
        assert answer.status_code in (202, 422), answer.text[:500]
        return "" if answer.status_code == 202 else answer.text

    check_refused(service.store, publish)


def test_through_the_xml_port(tmp_path: Path) -> None:
    with served(str(tmp_path / "tidings.db"), replace(XML_SETTINGS, largest_event=LARGEST)) as daemon:
        grow(daemon.store)
        before, after = request("x", daemon.join("ann"), "|").encode().split(b"|")

        def publish(document: bytes) -> str:
            with Client(daemon.port) as client:
                with suppress(BrokenPipeError, ConnectionResetError):  # it was answered before all was read
                    client.send(before + document + after)
                answer = client.answer()
                assert answer is not None
                return "" if answer.tag == "OK" else " ".join([*answer.itertext(), *answer.attrib.values()])

        check_refused(daemon.store, publish)
