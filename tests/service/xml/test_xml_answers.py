"""Answers are XML whatever was asked, one line each, with the thesis's names for errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tidings.errors import TidingsError
from tidings.events import BrokenRule, RefusedEvent
from tidings.language import Filter, parse
from tidings.language.errors import UnknownAttribute
from tidings.schema import Catalog, Domain, Instant, Kind
from tidings.schema.catalog import Attribute, AttributeUse, EventType, NameTaken, UnknownName
from tidings.service.api.problem_types import TYPES
from tidings.service.door.callers import NoToken
from tidings.service.xml import answers as answers
from tidings.service.xml import filters as filters
from tidings.service.xml.framing import MalformedRequest
from tidings.store import NoSuchSubscription, Standing, StoreFull, StoreUnreachable

CATALOG = Catalog(
    (
        Domain("n", Kind.NUMERIC),
        Domain("s", Kind.STRING),
        Domain("t", Kind.TIME),
        Domain("e", Kind.ENUMERATED, values=("a", "b c")),
    ),
    tuple(Attribute(name, name) for name in "nste"),
    (EventType("car", (AttributeUse("n"),)), EventType("old car", ())),
)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (NameTaken("attribute", "price"), "SameAttributeInSchema"),
        (NameTaken("event type 'car': attribute", "price"), "SameAttributeInSchema"),
        (NameTaken("event type", "car"), "SameEventInSchema"),
        (NameTaken("domain", "money"), "NameTaken"),
        (UnknownName("attribute", "x", "here", ()), "NoSuchAttribute"),
        (UnknownName("event type", "x", "here", ()), "EventTypeNotFound"),
        (UnknownName("domain", "x", "here", ()), "UnknownName"),
        (UnknownAttribute("x = 1", 0, "x", ()), "NoSuchAttribute"),
        (answers.NoSuchUser("ann"), "NoSuchUser"),
        (NoSuchSubscription("s"), "NoSuchSubscription"),
        (StoreFull("postgresql://secret@host/db", "disk"), "LogFile"),
        (StoreUnreachable("postgresql://secret@host/db", "gone"), "LogFile"),
        (RefusedEvent("e", (BrokenRule("type", "event_type", "x", "no event type 'x'"),)), "EventTypeNotFound"),
        (RefusedEvent("e", (BrokenRule("unique", "n", 1, "twice"),)), "RefusedEvent"),
        (MalformedRequest(1, 2, "no XML"), "MalformedRequest"),
        (NoToken(), "NoToken"),
    ],
)
def test_names_of_errors(error: TidingsError, name: str) -> None:
    answer = etree.fromstring(answers.refused(error, "PUBLISH_EVENT"))
    assert (answer.tag, answer.get("name"), answer.get("request")) == ("ERROR", name, "PUBLISH_EVENT")
    assert answer.get("type").removeprefix("/problems/") in TYPES
    assert answer.text
    assert "secret" not in answer.text


def test_an_error_in_a_filter_says_where() -> None:
    with pytest.raises(TidingsError) as raised:
        parse("price <\n< 3")
    answer = etree.fromstring(answers.refused(raised.value))
    assert (answer.get("line"), answer.get("column")) == ("2", "1")
    assert answer.get("expected")


@given(st.text(), st.text())
def test_any_text_stays_in_its_line(one: str, other: str) -> None:
    one, other = (text.encode("utf-8", "replace").decode() for text in (one, other))
    line = answers.done("PUBLISH_EVENT", [other], id=one)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    answer = etree.fromstring(line)
    shown = answers._NOT_XML.sub("\ufffd", one)
    assert answer.get("id") == shown


@given(st.text(st.characters(), max_size=50))
def test_errors_about_any_text(text: str) -> None:
    """Control characters, and halves of surrogate pairs too."""
    error = RefusedEvent(text, (BrokenRule("domain", text, text, f"wrong: {text}"),))
    answer = etree.fromstring(answers.refused(error))
    assert answer.find("BROKEN").get("rule") == "domain"
    etree.fromstring(answers.refused(UnknownName("attribute", text, text, ())))


def test_a_matched_event_as_the_thesis_writes_it() -> None:  # appendix B
    raw = {
        "id": "e1",
        "contact": "sbile@hotmail.com",
        "event_type": ["car"],
        "attributes": {"price": 4, "brand": ["bmw", "mini"], "odd": "a\x00b<"},
    }
    event = etree.fromstring(answers.event(raw, 7, Instant.parse("2026-05-01")))
    assert event.get("contact") == "sbile@hotmail.com"
    assert [(e.get("type"), e.text) for e in event.iterfind("ATTRIBUTES/ATTR")] == [
        ("price", "4"),
        ("brand", "bmw"),
        ("brand", "mini"),
        ("odd", "a\ufffdb<"),
    ]
    assert etree.fromstring(answers.event(None, 7, Instant(0))).get("removed") == "true"


FILTERS = [
    "event_type contains 'car' and n <= 1300.5 and s contains any 'red mini'",
    "event_type contains 'car' and event_type contains 'old car'",
    "s contains 'red' and s = 'it''s  <odd>'",
    "e = 'b c' and e != 'a' and e contains 'a'",
    "t >= '2026-05-01T10:00:00Z' and n contains 5",
    "n > -1.0e+300",
    "event.id = 'x' and event.time < '2026-05-01T10:00:00Z'",
]
BEYOND = ["n = 1 or n = 2", "not (n = 1)", "n in (1, 2)", "n between 1 and 2", "s contains all 'a b'", "n exists"]


@pytest.mark.parametrize("text", FILTERS)
def test_a_filter_that_elements_can_say_comes_back(text: str) -> None:
    canonical = Filter.parse(text, CATALOG).text
    parts = filters.tests_of(canonical)
    assert parts is not None
    assert Filter.parse(filters.filter_text(*parts, CATALOG), CATALOG).text == canonical
    standing = Standing("s-1", "ann", canonical, "active", None, "", 3, 3)
    written = etree.fromstring(answers.subscription(standing))
    assert written.find("FILTER") is None
    assert len(written.findall("ATTRIBUTES/ATTR")) == len(parts[1])


@pytest.mark.parametrize("text", BEYOND)
def test_other_filters_are_written_in_the_language(text: str) -> None:
    standing = Standing("s-1", "ann", text, "paused", Instant(0), "", 3, None)
    written = etree.fromstring(answers.subscription(standing))
    assert written.findtext("FILTER") == text
    assert (written.get("state"), written.get("expiry")) == ("paused", "1970-01-01T00:00:00Z")
