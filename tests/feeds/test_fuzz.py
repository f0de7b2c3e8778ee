"""Whatever a source holds, it is read or refused, and what is inferred from it is a schema."""

import csv
import io
import json
import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

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
_CELLS: tuple[Any, ...] = (
    None, "", "x", "a longer text of some words", "audi", "vw", 5, -2.5, "12", "1,299.00", "1.250,5", "$5", "EUR 900",
    "7 km", "12 Raten", "nicht unter 5000", "3 day auction", "12a", "VB", "NA", "-", "2026-05-01", "01.02.2016",
    "31.12.2015 (neu!)", "03/04/2026", "9999-01-01", "Cars > Parts", "Cars > Parts > Brakes", "Cars", "37.8, -122.4",
    True, ["audi", "vw"], ["Cars", "Parts"], [5, "x"], [], {"who": "ann"}, [{"who": "ann", "sum": 3}, {"who": None}],
    [["x"]],
)  # fmt: skip
_ROWS = range(40)
_USUAL: tuple[Callable[[int], Any], ...] = (
    lambda n: n,
    lambda n: f"${n},500.25",
    lambda n: f"2026-05-{n % 28 + 1:02}",
    lambda n: f"{n % 28 + 1:02}.05.2016",
    lambda n: f"Cars > Parts > p{n % 9}",
    lambda n: ["Cars", "Parts", f"p{n % 9}"],
    lambda n: ("audi", "vw")[n % 2],
    lambda n: f"a longer text of some words, number {n}",
    lambda n: [{"who": "ann", "sum": n}] if n % 2 else None,
)
_UNUSUAL = st.dictionaries(st.sampled_from(_ROWS), st.sampled_from(_CELLS), max_size=6)
_ANNOUNCED = re.compile(r"([0-9]+) would be refused and ([0-9]+) bad values left out")
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


@pytest.mark.parametrize("form", ["json", "csv"])
@given(columns=st.lists(st.tuples(st.sampled_from(_USUAL), _UNUSUAL), min_size=1, max_size=4))
@settings(max_examples=100)
def test_nothing_is_refused_or_left_out_of_its_own_source_that_was_not_announced(
    form: str, columns: list[tuple[Callable[[int], Any], dict[int, Any]]]
) -> None:
    """In each column a few rows are not like the others. The mapping is written and read, and the schema grown, before
    the records come."""
    rows = [{name: some.get(n, usual(n)) for name, (usual, some) in zip("abcd", columns, strict=False)} for n in _ROWS]
    content = Content("there", (json.dumps(rows) if form == "json" else _table(rows)).encode())
    try:
        found = infer(content, Layout(form), Origin(file=Path("/x")), "thing")
    except FeedError:  # of no values at all
        return
    catalog = Catalog()
    for change in changes(found.catalog, catalog):
        catalog = grow(catalog, change)
    mapping = mapping_of(tomllib.loads(write_mapping(found.mapping)), "thing", Path("/"))
    maker, refused, left_out = EventMaker(mapping, catalog), 0, 0
    for record in read_records(content, mapping.layout, mapping.paths):
        made = maker.make(record)
        left_out += len(made.left_out)
        refused += bool(made.errors) or not _valid(made.raw, catalog)
    said = _ANNOUNCED.search("\n".join(found.remarks))
    assert (refused, left_out) == (tuple(map(int, said.groups())) if said else (0, 0)), found.remarks


def _table(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def _valid(raw: object, catalog: Catalog) -> bool:
    try:
        validate(raw, catalog)
    except RefusedEvent:
        return False
    return True


@given(text=st.one_of(st.text(max_size=60), st.lists(st.sampled_from(
    ["url", "file", "fields", " = ", '"x"', "\n", "[", "]", "{", "}", "event_type", "5", "format", '"csv"', ".", "true"]
)).map("".join)))  # fmt: skip
@settings(max_examples=200)
def test_mapping_files_are_read_or_refused(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.toml"
    path.write_text(text, encoding="utf-8", errors="replace")
    with suppress(TidingsError):
        read_mapping(path)
