"""Whatever comes over the wire is answered or refused: no crash, no hang, no growth of memory."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lxml import etree

from tests.mutations import mutated, resident
from tests.service.example_store import SCHEMA
from tests.service.xml_served import CAR, Client, served
from tidings.errors import TidingsError
from tidings.schema import json_form
from tidings.schema.dtd import FILES
from tidings.service.xml import answers as answers
from tidings.service.xml.framing import Document, Framing, MalformedRequest
from tidings.service.xml.requests import Request, read_request
from tidings.service.xml.validity import InvalidRequest, Validity, parse

pytestmark = pytest.mark.slow

INPUTS = 100_000
WARM = 20_000  # inputs after which memory must not grow any more
MOST_GROWTH = 32 << 20  # bytes: less than half a kilobyte for each further input
LARGEST = 4_096
CORPUS = [
    CAR.format(token="tid_x", more=' id="e1" source="s" time="2026-05-01T10:00:00Z"'),
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE PUBLISH_EVENT SYSTEM "a:8090/dtds/pub_event.dtd">\n'
    '<PUBLISH_EVENT contact="c"><EVENT_TYPE><VALUE type="car"/><VALUE type="auction"/></EVENT_TYPE><ATTRIBUTES>'
    '<ATTR type="price">1300</ATTR><ATTR type="paint">red</ATTR><ATTR type="paint"><![CDATA[blue]]></ATTR>'
    "<!-- c --></ATTRIBUTES></PUBLISH_EVENT>",
    '<PUBLISH_SUB username="sbile" token="t" expiry="2030-01-01"><EVENT_TYPE><VALUE type="car" oper="contains"/>'
    '</EVENT_TYPE><ATTRIBUTES><ATTR type="price" oper="gteq">3</ATTR><ATTR type="brand" oper="eq">opel</ATTR>'
    '<ATTR type="title" oper="contains">red mini</ATTR></ATTRIBUTES></PUBLISH_SUB>',
    "<PUBLISH_SUB username='u'><FILTER>price &lt; 3 and (brand = 'opel' or not (year in (1, 2)))</FILTER>"
    "</PUBLISH_SUB>",
    '<ADD_DOMAIN><DOMAIN type="enum" attr="a, b"><OPER type="eq"/><OPER type="noteq"/></DOMAIN></ADD_DOMAIN>',
    '<ADD_DOMAIN><DOMAIN type="hierarchical" name="h"><NODE name="a"><NODE name="b"/></NODE></DOMAIN></ADD_DOMAIN>',
    '<ADD_DOMAIN><DOMAIN type="enum" ordered="true"><VALUE>a</VALUE><VALUE>b</VALUE></DOMAIN></ADD_DOMAIN>',
    '<ADD_ATTRIBUTE><ATTR_DOM name="artist" type="1"/></ADD_ATTRIBUTE>',
    '<EXTENT_SCHEMA type="car"><E_ATTR unique="true" type="price"/><E_ATTR unique="false" type="title"/>'
    "</EXTENT_SCHEMA>",
    '<ADD_EVENT><E_TYPE type="paint"><E_ATTR mandatory="true" unique="true" domid="1" type="price"/></E_TYPE>'
    "</ADD_EVENT>",
    '<DELETE_SUB username="u" token="t" id="s-1"/>',
    '<LIST_SUBS token="t" after="x" limit="10"/>',
    '<LIST_EVENTS token="t" id="s-1" after="3" limit="10"/>',
]
_TEXT = """
DOMAIN OPER VALUE NODE ATTR_DOM E_ATTR E_TYPE EVENT_TYPE ATTRIBUTES ATTR FILTER
< </ /> > <!-- --> <![CDATA[ ]]> <? ?> ]> &lt; &#0; &#x41; &a; ' " xmlns='' xml:space='preserve'
type oper token username id limit mandatory unique domid contains eq price brand car numeric enum time
text true false 1 -1 1e999 nan 2030-01-01 encoding='utf-16' event_type event.id
"""
WORDS = [
    *_TEXT.split(),
    *FILES,
    *("<!DOCTYPE A [", "<?xml version='1.0'?>", "9" * 30, "\0", " ", ""),
]


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """A hang fails instead of hanging the tests."""

    def hung(*_: object) -> None:
        raise AssertionError(f"still at it after {seconds} s")

    before = signal.signal(signal.SIGALRM, hung)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def understood(document: Document, validity: Validity) -> Request | bytes:
    """As the daemon does it, but for who asks."""
    root = parse(document)
    try:
        problem = validity.problem(root, beside=True)
        request = read_request(root, validity.catalog)
        if problem is not None:
            raise InvalidRequest(str(root.tag), problem)
        return request
    except TidingsError as error:
        return answers.refused(error)


def test_requests() -> None:
    validity = Validity(json_form.read(SCHEMA.read_bytes()))
    seen = {"valid": 0, "refused": 0, "malformed": 0, "unframed": 0}
    start = 0
    for number, text in enumerate(mutated(CORPUS, WORDS, INPUTS, seed=20261115)):
        if number == WARM:
            start = resident()
        data = text.encode("utf-8", "surrogatepass")
        framing = Framing(LARGEST)
        with within(30):
            documents = [*framing.feed(data[: number % 97]), *framing.feed(data[number % 97 :])]
            if framing.problem is not None:
                etree.fromstring(answers.refused(framing.problem))
                seen["unframed"] += 1
            for document in documents:
                try:
                    done = understood(document, validity)
                except MalformedRequest as problem:
                    etree.fromstring(answers.refused(problem))
                    seen["malformed"] += 1
                else:
                    seen["refused" if isinstance(done, bytes) else "valid"] += 1
                    if isinstance(done, bytes):
                        etree.fromstring(done)
    assert resident() - start < MOST_GROWTH
    assert all(count > 1_000 for count in seen.values()), seen  # the inputs reach every stage


def test_over_sockets(tmp_path: Path) -> None:
    with served(str(tmp_path / "tidings.db"), guests=True, idle_seconds=1.0) as daemon:
        token = daemon.join("ann")
        bystander = daemon.client()
        for number, text in enumerate(mutated([one.replace("tid_x", token) for one in CORPUS], WORDS, 1_000, seed=7)):
            with within(60), Client(daemon.port) as client:
                client.send(text.encode("utf-8", "surrogatepass"))
                if number % 3 == 0:
                    client.socket.close()  # gone without a word; makefile keeps the descriptor until the end
                    continue
                client.socket.shutdown(1)
                while (answer := client.answer()) is not None:
                    assert answer.tag in ("OK", "ERROR", "USER_LOG")
                    assert answer.get("name") != "Failed"
            if number % 50 == 0:
                assert bystander.ask(f'<LIST_SUBS token="{token}"/>').tag == "USER_LOG"
        assert bystander.ask(CAR.format(token=token, more="")).tag == "OK"
