"""Records inside records: `each` names them, `^` looks into the one around."""

import tomllib
from typing import Any

import pytest

from tests.feeds.conftest import Map
from tidings.feeds.errors import WrongMapping
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.mapping.mapping_file import mapping_of
from tidings.feeds.mapping.mapping_text import write_mapping
from tidings.feeds.records.records import read_records
from tidings.feeds.sources.content import Content
from tidings.schema import Catalog

XML = """<site><a id="1"><bid><sum>5</sum></bid><bid><sum>6</sum></bid></a>
<a id="2"/><a id="3"><bid><sum>7</sum></bid></a></site>"""
JSON = (
    """[{"id": 1, "bids": [{"sum": 5}, {"sum": 6}]}, {"id": 2, "bids": []}, {"id": 2}, {"id": 3, "bids": {"sum": 7}}]"""
)
FIELDS = {"auction": "^@id", "sum": {"from": "sum", "kind": "numeric"}}


def made(mapped: Map, body: str, **keys: Any) -> list[tuple[str, Any]]:
    mapping = mapped(event_type="bid", **keys)
    maker = EventMaker(mapping, Catalog())
    found = read_records(Content("there", body.encode()), mapping.layout, mapping.paths)
    return [(one.raw["id"], one.raw["attributes"]) for one in map(maker.make, found)]


WANTED = [
    ("1/5", {"auction": "1", "sum": 5}),
    ("1/6", {"auction": "1", "sum": 6}),
    ("3/7", {"auction": "3", "sum": 7}),
]


def test_nested_elements_become_events_with_what_the_outer_one_says(mapped: Map) -> None:
    keys: dict[str, Any] = {"file": "a.xml", "records": "a", "each": "bid", "id": ["^@id", "sum"], "fields": FIELDS}
    assert made(mapped, XML, **keys) == WANTED
    assert made(mapped, '<site><a id="2"/><a id="4"/></site>', **keys) == []


def test_nested_objects_become_events(mapped: Map) -> None:
    fields = {**FIELDS, "auction": "^id"}
    keys: dict[str, Any] = {"file": "a.json", "each": "bids", "id": ["^id", "sum"], "fields": fields}

    assert made(mapped, JSON, **keys) == WANTED


def test_what_cannot_be_is_told(mapped: Map) -> None:
    with pytest.raises(WrongMapping, match=r"fields\.auction\.from: \^ looks into the record around"):
        mapped(file="a.xml", records="a", event_type="bid", fields=FIELDS)
    with pytest.raises(WrongMapping, match="each: records in csv"):
        mapped(file="a.csv", each="a", event_type="bid", fields={"a": "a"})
    with pytest.raises(WrongMapping, match="each: a record is an element"):
        mapped(file="a.xml", records="a", each="b@c", event_type="bid", fields={"a": "a"})


def test_it_survives_writing(mapped: Map, tmp_path: Any) -> None:
    mapping = mapped(file="a.xml", records="a", each="bid", id=["^@id"], event_type="bid", fields=FIELDS)
    assert mapping_of(tomllib.loads(write_mapping(mapping)), "own.toml", tmp_path) == mapping
