"""A field of kind `document`: the record itself, or an element in it, as the value of an attribute."""

import pytest

from tests.feeds.conftest import Map
from tidings.events.refusal import RefusedEvent
from tidings.events.validation import validate
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.records.records import read_records
from tidings.feeds.sources.content import Content
from tidings.language import Filter
from tidings.matching.naive import matches
from tidings.schema import Catalog

SCHEMA = Catalog.from_dict(
    {
        "domains": [{"name": "item", "kind": "document", "root": "item"}, {"name": "words", "kind": "string"}],
        "attributes": [{"name": "article", "domain": "item"}, {"name": "title", "domain": "words"}],
        "event_types": [{"name": "news", "attributes": [{"name": "article"}, {"name": "title", "mandatory": False}]}],
    }
)
ITEMS = b"""<?xml version="1.0"?><rss xmlns:m="urn:m"><item id="1"><title>A &amp; B</title><m:area code="gr"/></item>
<item id="2"><title>C</title></item><other id="3"><title>D</title></other></rss>"""
FIELDS = {"article": {"from": ". xml()", "kind": "document"}, "title": "title"}


def made(mapped: Map, records: str) -> list[dict[str, object]]:
    mapping = mapped(
        file="x.xml", format="xml", records=records, event_type="news", id="@id", fields=FIELDS,
    )  # fmt: skip
    maker = EventMaker(mapping, SCHEMA)
    events = [maker.make(record) for record in read_records(Content("x", ITEMS), mapping.layout, mapping.paths)]
    assert not any(one.errors for one in events)
    return [dict(one.raw) for one in events]


def test_a_record_is_a_document_that_paths_select(mapped: Map) -> None:
    first, second = (validate(raw, SCHEMA) for raw in made(mapped, "item"))
    values = dict(first.attributes)
    assert values["title"] == ("A & B",)
    (article,) = values["article"]
    assert '<m:area code="gr"></m:area>' in article
    for path, held in (
        ('/item/title[. = "A & B"]', (True, False)),
        ("//@code", (True, False)),
        ("/item", (True, True)),
    ):
        tree = Filter.parse(f"article xpath '{path}'", SCHEMA).tree
        assert tuple(matches(tree, one.bindings(), SCHEMA) for one in (first, second)) == held, path


def test_a_record_that_is_not_valid_is_refused_with_its_place(mapped: Map) -> None:
    (raw,) = made(mapped, "other")
    with pytest.raises(RefusedEvent, match="line 1, column 1: the root element is 'other'; expected 'item'"):
        validate(raw, SCHEMA)
