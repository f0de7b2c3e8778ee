"""The filters array of the CloudEvents subscriptions API, and the event as its CloudEvent."""

import json
from typing import Any

import pytest

from tidings.errors import LanguageError
from tidings.events import Event
from tidings.language.cesql.cloud_event import CloudEvent
from tidings.language.cesql.filters import filters_pass, parse_filters
from tidings.schema.values import Instant

EVENT = {"type": "com.example.someevent", "source": "/a", "id": "1", "specversion": "1.0", "level": 5}


def passing(filters: Any) -> bool:
    return filters_pass(parse_filters(json.dumps(filters)).filter, EVENT)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ([], True),
        ([{"exact": {"type": "com.example.someevent"}}], True),
        ([{"exact": {"type": "com.example"}}], False),
        ([{"exact": {"type": "com.example.someevent", "source": "/b"}}], False),  # each of them
        ([{"exact": {"level": "5"}}], True),  # the text of a number
        ([{"prefix": {"type": "com."}}, {"suffix": {"type": "event"}}], True),
        ([{"prefix": {"type": "com."}}, {"suffix": {"type": "even"}}], False),
        ([{"exact": {"subject": "x"}}], False),
        ([{"not": {"exact": {"subject": "x"}}}], True),  # a missing attribute fails the inner one
        ([{"all": [{"prefix": {"type": "com."}}, {"exact": {"id": "1"}}]}], True),
        ([{"any": [{"exact": {"id": "2"}}, {"exact": {"id": "1"}}]}], True),
        ([{"any": [{"exact": {"id": "2"}}, {"exact": {"id": "3"}}]}], False),
        ([{"sql": "source LIKE '%/a%' AND level > 4"}], True),
        ([{"sql": "level"}], False),  # not a Boolean
        ([{"sql": "subject = 'x'"}], False),
        ([{"not": {"sql": "subject = 'x'"}}], True),  # an error fails the inner one
    ],
)
def test_passing(filters: Any, expected: bool) -> None:
    assert passing(filters) is expected


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({}, "filters: expected an array"),
        ([{}], r"filters\[0\]: expected an object with one dialect"),
        ([{"exact": {"a": "1"}, "prefix": {"a": "1"}}], "with one dialect"),
        ([{"exat": {"a": "1"}}], "no dialect 'exat'; did you mean 'exact'"),
        ([{"exact": {"a": 1}}], r"filters\[0\].exact.a: expected text that is not empty, got 1"),
        ([{"exact": {"zip code": "1"}}], r"filters\[0\].exact: 'zip code' cannot be an attribute"),
        ([{"prefix": {}}], r"filters\[0\].prefix: expected an object such as"),
        ([{"all": []}], r"filters\[0\].all: expected an array"),
        ([{"any": [{"not": [{"exact": {"a": "1"}}]}]}], r"filters\[0\].any\[0\].not: expected an object with one"),
        ([{"sql": "type ="}], r"filters\[0\].sql: line 1, column 7"),
        ([{"sql": 1}], "expected a CESQL expression, got 1"),
    ],
)
def test_mistakes_name_the_member(filters: Any, words: str) -> None:
    with pytest.raises(LanguageError, match=words):
        parse_filters(json.dumps(filters))


def test_nesting_has_a_limit() -> None:
    deep: Any = {"exact": {"a": "1"}}
    for _ in range(60):
        deep = {"not": deep}
    with pytest.raises(LanguageError, match="nested more than 50 deep"):
        parse_filters(json.dumps([deep]))
    with pytest.raises(LanguageError, match="nested more than 50 deep"):
        parse_filters("[" * 60_000)
    with pytest.raises(LanguageError, match="not JSON"):
        parse_filters("[")


def test_an_event_as_its_cloud_event() -> None:
    made = Event(
        "e1",
        ("antique", "car"),
        (("price", (900,)), ("share", (0.5,)), ("tags", ("a", "b")), ("time", ("noon",)), ("total", (2**40,))),
        time=Instant.parse("2026-05-01T10:00:00Z"),
    )
    cloud_event = CloudEvent(made.bindings(), "car")
    assert dict(cloud_event) == {
        "specversion": "1.0",
        "type": "car",
        "id": "e1",
        "source": "",
        "time": "2026-05-01T10:00:00Z",  # the attribute of that name is hidden
        "price": 900,
        "share": "0.5",  # CESQL has no fractions
        "total": "1099511627776",  # nor more than 32 bits
    }
    assert len(cloud_event) == 8
    assert cloud_event.get("tags") is None  # an extension has one value
    assert cloud_event.get("event_type") is None
