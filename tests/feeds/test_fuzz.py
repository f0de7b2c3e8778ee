"""Whatever a source holds, it is read or refused, and what is inferred from it is a schema."""

import json
import tomllib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tidings.errors import TidingsError
from tidings.events import RefusedEvent, validate
from tidings.feeds import FeedError, UnreadableFeed, infer
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.inference.schema_changes import changes
from tidings.feeds.mapping.mapping import Layout, Origin
from tidings.feeds.mapping.mapping_file import mapping_of, read_mapping
from tidings.feeds.mapping.mapping_text import write_mapping
from tidings.feeds.records.records import read_records
from tidings.feeds.sources.content import Content
from tidings.schema import Catalog
from tidings.schema.growth import grow

_MARKUP = "<a>|</a>|<b class='x y'>|</b>|<tr>|<td>|&lt;|&#0;|<!--|-->|<![CDATA[|]]>|<?p|<script>|</|<a:b c:d='e'>"
_VALUES = '{"a":|}|[|]|,|"|null|1e999|NaN|\\ud800|;|1,299.00|2026-05-01|x|é|\x00|\u202e|𝟛|-|$'
PIECES = st.sampled_from([*_MARKUP.split("|"), *_VALUES.split("|"), "|", "\n", "\r"])
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=80))


@pytest.mark.parametrize("format", ["csv", "json", "xml", "html"])
@given(text=TEXTS)
@settings(max_examples=150)
def test_readers_refuse_or_read(format: str, text: str) -> None:
    content = Content("there", text.encode("utf-8", "surrogatepass"))
    layout = Layout(format, "" if format in ("csv", "json") else "*")
    paths = {"csv": [], "json": ["a", "*/a", ""]}.get(format, ["a", ".x", "td:2", "@id", "."])
    with suppress(FeedError):
        assert all(isinstance(record, dict) for record in read_records(content, layout, paths))


@pytest.mark.parametrize("format", ["csv", "json", "xml", "html"])
@given(text=TEXTS)
@example(text="<tr><td>x<td><tr><td>y")
@example(text="a\nb\n,c")
@settings(max_examples=150)
def test_what_is_inferred_is_a_schema_and_a_mapping(format: str, text: str) -> None:
    content = Content("there", text.encode("utf-8", "surrogatepass"))
    try:
        found = infer(content, Layout(format), Origin(file=Path("/x")), "thing")
    except FeedError:
        return
    catalog = Catalog()
    for change in changes(found.catalog, catalog):
        catalog = grow(catalog, change)
    again = mapping_of(tomllib.loads(write_mapping(found.mapping)), "thing", Path("/"))
    assert again == replace(found.mapping, source="thing")  # the name of the mapping, which says none
    maker = EventMaker(again, catalog)
    try:
        for record in read_records(content, again.layout, again.paths):
            made = maker.make(record)
            json.dumps(made.raw, allow_nan=False)
            with suppress(RefusedEvent):
                validate(made.raw, catalog)
    except UnreadableFeed as problem:
        if str(problem) not in found.remarks:  # nothing may be wrong that was not announced
            raise


@given(text=st.one_of(st.text(max_size=60), st.lists(st.sampled_from(
    ["url", "file", "fields", " = ", '"x"', "\n", "[", "]", "{", "}", "event_type", "5", "format", '"csv"', ".", "true"]
)).map("".join)))  # fmt: skip
@settings(max_examples=200)
def test_mapping_files_are_read_or_refused(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.toml"
    path.write_text(text, encoding="utf-8", errors="replace")
    with suppress(TidingsError):
        read_mapping(path)
