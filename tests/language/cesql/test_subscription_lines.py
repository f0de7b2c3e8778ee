"""Subscriptions in other languages in a file, and how their owners see them."""

import json
from typing import Any

import pytest

from tests.strategies.filters import RICH
from tidings.language.readable import readable
from tidings.language.subscription_file import WrongSubscriptions, read_subscriptions


def read(**members: Any) -> str:
    (one,) = read_subscriptions([json.dumps({"id": "s", **members}).encode()], RICH)
    return one.filter.text


def test_a_line_says_its_dialect() -> None:
    text = read(dialect="cesql", filter="type = 'car'")
    assert text == "event_type = 'car' and event_type translated cesql 'type = ''car'''"
    assert readable(text, RICH) == "event_type cesql 'type = ''car'''"
    assert read(dialect="tidings", filter="price < 5") == "price < 5"


def test_a_filters_array() -> None:
    array = [{"exact": {"type": "car"}}, {"not": {"sql": "LENGTH(title) > 3"}}]
    text = read(filters=array)
    assert text.startswith('event_type = \'car\' and event_type checked cloudevents \'[{"exact":{"type":"car"}}')
    assert read(dialect="cloudevents", filter=json.dumps(array, separators=(",", ":"))) == text


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"dialect": "cesl", "filter": "TRUE"}, "no dialect 'cesl'; did you mean 'cesql'?"),
        ({"dialect": 1, "filter": "TRUE"}, "no dialect 1"),
        ({"dialect": "cesql", "filter": "type ="}, "line 1: filter, line 1, column 7: expected an attribute"),
        ({"filter": "price < 5", "filters": []}, "it has both 'filter' and 'filters'"),
        ({"dialect": "cesql", "filters": []}, "'filters' cannot be in 'cesql'"),
        ({"dialect": "cesql", "composite": "[price < 5]"}, "a composite cannot be in 'cesql'"),
        ({"filters": {}}, "filters: expected an array"),
        ({"dialect": "cesql"}, "'filter' is missing"),
    ],
)
def test_mistakes(members: dict[str, Any], words: str) -> None:
    with pytest.raises(WrongSubscriptions) as raised:
        read(**members)
    assert words in str(raised.value)
