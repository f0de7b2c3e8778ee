"""The bytes of a source as records: for each path that is asked for, the values that stand there.

Nothing is fetched and no entity is expanded, whatever the bytes say; scripts are no text. What is too large, too deep
or of another format raises UnreadableFeed. `infer` asks which paths there are, `event_maker` makes events of records.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeAlias

from lxml import etree

from tidings.errors import shown
from tidings.feeds.errors import NoRecords, UnreadableFeed
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.records.csv_rows import csv_rows
from tidings.feeds.records.element_path import ElementPath, local_name
from tidings.feeds.records.json_path import JsonPath
from tidings.feeds.sources.content import Content as Content  # what records are read from, for whoever reads them
from tidings.feeds.sources.content import decoded
from tidings.schema import safe_xml

LARGEST = 32 << 20  # bytes of one page or file, which are in memory while it is read
MOST_RECORDS = 1_000_000  # of one page or file
MOST_VALUES = 1_000  # at one path of one record

Record: TypeAlias = dict[str, tuple[Any, ...]]


def read_records(content: Content, layout: Layout, paths: Iterable[str]) -> Iterator[Record]:
    """Each record with the values at the paths; raises UnreadableFeed.

    A page that has none raises NoRecords: it may ask for a password, or look otherwise now. A table or a list that is
    there and empty is none of that."""
    if len(content.body) > LARGEST:
        raise UnreadableFeed(content.place, f"it has {len(content.body):,} bytes; at most {LARGEST:,} are read")
    wanted = tuple(paths)
    match layout.format:
        case "csv":
            found = _rows(content, layout, wanted)
        case "json":
            found = _objects(content, layout, wanted)
        case _:
            found = _elements(content, layout, wanted)
    return _bounded(content, found)


def _bounded(content: Content, found: Iterator[Record]) -> Iterator[Record]:
    """Whoever takes them one by one has had a million when it is said that there are more."""
    yield from islice(found, MOST_RECORDS)
    if next(found, None) is not None:
        raise UnreadableFeed(content.place, f"only its first {MOST_RECORDS:,} records were read; divide it")


def _rows(content: Content, layout: Layout, wanted: tuple[str, ...]) -> Iterator[Record]:
    rows = csv_rows(content, layout)
    header = next(rows, [])
    for path in wanted:
        if path not in header:
            raise UnreadableFeed(content.place, f"there is no column {path!r}; the first line has {shown(header)}")
    places = [(path, header.index(path)) for path in wanted]
    for row in rows:
        yield {path: (row[place],) for path, place in places if place < len(row)}


def _objects(content: Content, layout: Layout, wanted: tuple[str, ...]) -> Iterator[Record]:
    ways = [(path, JsonPath.parse(path)) for path in wanted]
    for one in json_records(content, layout):
        yield {path: _values(way.values(one)) for path, way in ways}


def json_records(content: Content, layout: Layout) -> Iterator[Any]:
    """The values at `records`, a list's elements each; JSON Lines are read as a list of them."""
    nowhere = True
    for found in JsonPath.parse(layout.records).values(json_document(content, layout)):
        nowhere = False
        yield from found if isinstance(found, list) else [found]
    if nowhere:
        raise NoRecords(content.place, f"nothing stands at {layout.records!r}; has it changed?")


def json_document(content: Content, layout: Layout) -> Any:
    return _json(content, decoded(content, layout))


def _json(content: Content, text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise UnreadableFeed(content.place, "the JSON is nested too deeply") from None
    except json.JSONDecodeError as problem:
        lines = [line for line in text.split("\n") if line.strip()]
        if not problem.msg.startswith("Extra data") or len(lines) < 2:
            where = f"line {problem.lineno}, column {problem.colno}"
            raise UnreadableFeed(content.place, f"{where}: no JSON: {problem.msg}") from None
    except ValueError:  # an integer of more than 4,300 digits
        raise UnreadableFeed(content.place, "a number in the JSON is too long") from None
    made = []
    for number, line in enumerate(lines, 1):
        try:
            made.append(json.loads(line))
        except (ValueError, RecursionError) as problem:
            raise UnreadableFeed(content.place, f"line {number}: no JSON: {problem}") from None
    return made


def _elements(content: Content, layout: Layout, wanted: tuple[str, ...]) -> Iterator[Record]:
    ways = [(path, ElementPath.parse(path)) for path in wanted]
    root = document(content, layout)
    records = ElementPath.parse(layout.records)
    if len(records.steps) == 1 and not records.direct and records.steps[0].fits(root):
        records = ElementPath(())  # the whole document is the record
    of_cells = any(step.tag == "td" for _, way in ways for step in way.steps)
    number, empty = 0, True
    for number, element in enumerate(records.elements(root), 1):  # noqa: B007  # it is counted
        if of_cells and _has_headings_only(element):
            empty = False
            continue
        record = {path: _values(way.values(element)) for path, way in ways}
        if any(record.values()):
            empty = False
            yield record
    if empty:
        nothing = "nothing of what the mapping names is in what" if number else "nothing"
        raise NoRecords(content.place, f"{nothing} stands at {layout.records!r}; has the page changed?")


def _has_headings_only(element: etree._Element) -> bool:
    """Such as the first row of a table."""
    return local_name(element) == "tr" and {local_name(cell) for cell in element} == {"th"}


def document(content: Content, layout: Layout) -> etree._Element:
    """The root of XML or HTML."""
    if layout.format == "xml":
        try:
            return safe_xml.parse(decoded(content, layout).lstrip(), ())[0]  # blanks before `<?xml` harm nobody
        except safe_xml.MalformedXml as problem:
            raise UnreadableFeed(content.place, str(problem)) from None
    text = decoded(content, layout).replace("\x00", "")
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=False)
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as problem:
        raise UnreadableFeed(content.place, f"no HTML: {problem.msg}") from None
    if root is None:
        raise UnreadableFeed(content.place, "there is nothing in it")
    return root


def _values(found: Iterator[Any]) -> tuple[Any, ...]:
    """One more than may be: then `event_maker` sees that there are too many."""
    return tuple(islice(found, MOST_VALUES + 1))
