"""The bytes of a source as records: for each path that is asked for, the values that stand there.

Nothing is fetched and no entity is expanded, whatever the bytes say; scripts are no text. What is too large, too deep
or of another format raises UnreadableFeed. `inferring` asks which paths there are, `making` makes events of records.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from lxml import etree

from tidings.errors import shown
from tidings.feeds.element_path import ElementPath, local_name
from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.json_path import JsonPath
from tidings.feeds.mapping import Layout
from tidings.schema import safe_xml

LARGEST = 32 << 20  # bytes of one page or file, which are in memory while it is read
MOST_RECORDS = 1_000_000  # of one page or file
MOST_VALUES = 1_000  # at one path of one record
_MOST_COLUMNS = 1_000
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9._-]{1,40})", re.IGNORECASE)
_SEPARATOR = re.compile(r"(?i)sep=.\s*")
_PACKED = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_OF_TEXT = re.compile(
    r"utf-(8|16|32).*|ascii|iso8859-.*|cp\d+|koi8-.*|mac-.*|shift_jis.*|euc_.*|iso2022_.*|gb.*|big5.*"
)

Record: TypeAlias = dict[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Content:
    """What was got from a place; `encoding` is what whoever sent it said about it."""

    place: str
    body: bytes
    encoding: str = ""


def read_records(content: Content, layout: Layout, paths: Iterable[str]) -> Iterator[Record]:
    """Each record with the values at the paths; raises UnreadableFeed."""
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
        if row:
            yield {path: (row[place],) for path, place in places if place < len(row)}


def csv_rows(content: Content, layout: Layout) -> Iterator[list[str]]:
    """The header and the rows."""
    text = io.StringIO(decoded(content, layout), newline="")
    if not _SEPARATOR.match(text.readline()):  # by which Excel is told the delimiter
        text.seek(0)
    reader = csv.reader(text, delimiter=layout.delimiter)
    try:
        for number, row in enumerate(reader):
            if len(row) > _MOST_COLUMNS:
                most = f"{len(row):,} columns; at most {_MOST_COLUMNS:,} are read"
                raise UnreadableFeed(content.place, f"line {reader.line_num} has {most}")
            yield [name.strip() for name in row] if number == 0 else row
    except csv.Error as problem:
        raise UnreadableFeed(content.place, f"line {reader.line_num}: no CSV: {problem}") from None


def _objects(content: Content, layout: Layout, wanted: tuple[str, ...]) -> Iterator[Record]:
    ways = [(path, JsonPath.parse(path)) for path in wanted]
    for one in json_records(content, layout):
        yield {path: _values(way.values(one)) for path, way in ways}


def json_records(content: Content, layout: Layout) -> Iterator[Any]:
    """The values at `records`, a list's elements each; JSON Lines are read as a list of them."""
    for found in JsonPath.parse(layout.records).values(json_document(content, layout)):
        yield from found if isinstance(found, list) else [found]


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
    if records.steps and records.steps[-1].fits(root) and len(records.steps) == 1:
        records = ElementPath(())  # the whole document is the record
    of_cells = any(step.tag == "td" for _, way in ways for step in way.steps)
    for element in records.elements(root):
        record = {path: _values(way.values(element)) for path, way in ways}
        if any(record.values()) and not (of_cells and _has_headings_only(element)):
            yield record


def _has_headings_only(element: etree._Element) -> bool:
    """Such as the first row of a table."""
    return local_name(element) == "tr" and {local_name(cell) for cell in element} == {"th"}


def document(content: Content, layout: Layout) -> etree._Element:
    """The root of XML or HTML."""
    if layout.format == "xml":
        try:
            return safe_xml.parse(content.body if not layout.encoding else decoded(content, layout), ())[0]
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


def decoded(content: Content, layout: Layout) -> str:
    """By the mapping's encoding, else the sender's, else the page's own, else UTF-8."""
    encoding = layout.encoding or content.encoding
    if not encoding and content.body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"  # as spreadsheets write it
    if not encoding and layout.format == "html" and (meta := _CHARSET.search(content.body[:4096])):
        encoding = meta[1].decode("ascii")
    name = codec_of(encoding or "utf-8")
    if name is None:
        raise UnreadableFeed(content.place, f"the encoding {encoding!r} is not known; the mapping can name one")
    try:
        text = content.body.decode(name, "replace" if layout.format == "html" else "strict")
    except UnicodeDecodeError as problem:
        for start, packing in _PACKED.items():
            if content.body.startswith(start):
                raise UnreadableFeed(content.place, f"it is packed ({packing}); unpack it first") from None
        advice = "the mapping's `encoding`, or --encoding, names another one"
        raise UnreadableFeed(content.place, f"byte {problem.start}: this is no {name.upper()} text; {advice}") from None
    return text.removeprefix("\ufeff")


def codec_of(encoding: str) -> str | None:
    """Python's name of an encoding of text; None for what is none or does more than decode."""
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return None
    return name if _OF_TEXT.fullmatch(name) else None


def _values(found: Iterator[Any]) -> tuple[Any, ...]:
    """One more than may be: then `making` sees that there are too many."""
    return tuple(islice(found, MOST_VALUES + 1))
