"""The bytes of a source as records: for each path that is asked for, the values that stand there.

Nothing is fetched and no entity is expanded, whatever the bytes say; scripts are no text. What is too large, too deep
or of another format raises UnreadableFeed. `infer` asks which paths there are, `event_maker` makes events of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from lxml import etree

from tidings.errors import shown
from tidings.feeds.errors import NoRecords, UnreadableFeed
from tidings.feeds.mapping.mapping import OUTER, Layout
from tidings.feeds.records.csv_rows import csv_rows
from tidings.feeds.records.element_path import ElementPath, local_name
from tidings.feeds.records.icalendar import calendar_entries
from tidings.feeds.records.json_path import JsonPath
from tidings.feeds.records.json_values import CHANGED, Damaged, located_values
from tidings.feeds.records.log_lines import log_lines
from tidings.feeds.sources.content import Content as Content  # re-exported for readers of records
from tidings.feeds.sources.content import decoded
from tidings.feeds.sources.packed import LARGEST as LARGEST
from tidings.schema import safe_xml

MOST_RECORDS = 1_000_000  # of one page or file
MOST_OF_LARGE = 100_000_000  # of one that is read piece by piece
MOST_VALUES = 1_000  # at one path of one record

Record: TypeAlias = dict[str, tuple[Any, ...]]


class Located(NamedTuple):
    """A record and where it stands: the line in which it begins, 0 where that is not known, and its number from 1.

    `of`: how many records there are, 0 where that is not known before all are read."""

    record: Record
    line: int
    number: int
    of: int = 0

    @property
    def place(self) -> str:
        return f"line {self.line:,}" if self.line else f"record {self.number:,}"


def read_records(content: Content, layout: Layout, paths: Iterable[str]) -> Iterator[Record]:
    """Those of `located_records`, without their places."""
    return (found.record for found in located_records(content, layout, paths))


def located_records(content: Content, layout: Layout, paths: Iterable[str]) -> Iterator[Located]:
    """Each record with the values at the paths; raises UnreadableFeed.

    A page that has none raises NoRecords: it may ask for a password, or look otherwise now. A table or a list that is
    there and empty is none of that."""
    if len(content.body) > LARGEST:
        most = f"at most {LARGEST:,} are read: divide it"
        raise UnreadableFeed(content.place, f"it has {len(content.body):,} bytes; {most}")
    wanted = tuple(paths)
    match layout.format:
        case "csv":
            found = _rows(content, layout, wanted)
        case "json":
            return _counted(content, layout, wanted)
        case "icalendar" | "log":
            found = _named(flat_records(content, layout), wanted)
        case _:
            found = _elements(content, layout, wanted)
    return _numbered(content, found)


def _counted(content: Content, layout: Layout, wanted: tuple[str, ...]) -> Iterator[Located]:
    """A document of JSON is in memory as a whole, so that it is known how many records it has; a large file is not."""
    if content.large is not None:
        yield from _numbered(content, _objects(located_values(content, layout), layout, wanted))
        return
    values = list(located_values(content, layout))
    yield from _numbered(content, _objects(values, layout, wanted), 0 if layout.each else len(values))


def _numbered(content: Content, found: Iterator[tuple[int, Record]], of: int = 0) -> Iterator[Located]:
    """Whoever takes them one by one has had a million when it is said that there are more."""
    most = MOST_RECORDS if content.large is None else MOST_OF_LARGE
    for number, (line, record) in enumerate(islice(found, most), 1):
        yield Located(record, line, number, of)
    if next(found, None) is not None:
        raise UnreadableFeed(content.place, f"only its first {most:,} records were read; split it")


def _rows(content: Content, layout: Layout, wanted: tuple[str, ...]) -> Iterator[tuple[int, Record]]:
    rows = csv_rows(content, layout)
    _, header = next(rows, (0, []))
    for path in wanted:
        if path not in header:
            known = f"the first line has {shown(header)}: correct the mapping"
            raise UnreadableFeed(content.place, f"no column {path!r}; {known}")
    places = [(path, header.index(path)) for path in wanted]
    needed = max((place for _, place in places), default=-1)
    take = itemgetter(*(place for _, place in places)) if len(places) > 1 else None
    for line, row in rows:
        if take is not None and len(row) > needed:  # all of them are there, each as a tuple of its own
            yield line, dict(zip(wanted, zip(take(row)), strict=True))
        else:
            yield line, {path: (row[place],) if place < len(row) else () for path, place in places}


def flat_records(content: Content, layout: Layout) -> Iterator[tuple[int, Record]]:
    """Of formats whose records have values by name: calendars and logs. Raises UnreadableFeed."""
    return calendar_entries(content, layout) if layout.format == "icalendar" else log_lines(content, layout)


def _named(found: Iterator[tuple[int, Record]], wanted: tuple[str, ...]) -> Iterator[tuple[int, Record]]:
    for line, record in found:
        yield line, {path: _values(iter(record.get(path, ()))) for path in wanted}


def _objects(
    values: Iterable[tuple[int, Any]], layout: Layout, wanted: tuple[str, ...]
) -> Iterator[tuple[int, Record]]:
    inner = _inner(layout, wanted)
    outer = [(path, JsonPath.parse(path.removeprefix(OUTER).strip())) for path in wanted if path not in inner]
    ways = [(path, JsonPath.parse(path)) for path in inner]
    each = JsonPath.parse(layout.each)
    names = [(path, way.steps[0]) for path, way in ways] if all(len(way.steps) == 1 for _, way in ways) else []
    for line, one in values:
        if type(one) is Damaged:
            yield line, one
            continue
        if not layout.each:
            if names and type(one) is dict:  # the usual case: members of the record itself
                yield line, {path: (one[name],) if name in one else () for path, name in names}
            else:
                yield line, _at(one, ways)
            continue
        around = {path: _values(way.values(one)) for path, way in outer}
        for found in each.values(one):
            for nested in found if isinstance(found, list) else () if found is None else [found]:
                yield line, {**around, **_at(nested, ways)}


def _at(value: Any, ways: list[tuple[str, JsonPath]]) -> Record:
    """What stands at the paths; most have one step, for which no generator is needed."""
    if not isinstance(value, dict):
        return {path: _values(way.values(value)) for path, way in ways}
    return {
        path: (
            ((value[way.steps[0]],) if way.steps[0] in value else ())
            if len(way.steps) == 1
            else _values(way.values(value))
        )
        for path, way in ways
    }


def _inner(layout: Layout, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The paths that do not look into the record around."""
    return tuple(path for path in wanted if not (layout.each and path.startswith(OUTER)))


def _elements(content: Content, layout: Layout, wanted: tuple[str, ...]) -> Iterator[tuple[int, Record]]:
    inner = _inner(layout, wanted)
    outer = [(path, ElementPath.parse(path.removeprefix(OUTER).strip())) for path in wanted if path not in inner]
    ways = [(path, ElementPath.parse(path)) for path in inner]
    each = ElementPath.parse(layout.each or ".")
    root = document(content, layout)
    of_cells = any(step.tag == "td" for _, way in ways for step in way.steps)
    number, empty = 0, True
    for number, element in enumerate(record_elements(root, layout), 1):  # noqa: B007  # it is counted
        if of_cells and _has_headings_only(element):
            empty = False
            continue
        around = {path: _values(way.values(element)) for path, way in outer}
        empty = empty and not layout.each  # an auction without bids is not worth reporting
        for nested in each.elements(element):
            record = {path: _values(way.values(nested)) for path, way in ways}
            if any(record.values()):
                empty = False
                yield _line(nested), {**around, **record}
    if empty:
        missing = "none of the mapping's fields found in the records" if number else "nothing found"
        raise NoRecords(content.place, f"{missing} at {layout.records!r}; {CHANGED}")


def record_elements(root: etree._Element, layout: Layout) -> Iterator[etree._Element]:
    """What stands at `records`; where that names the root, the whole document is the record."""
    records = ElementPath.parse(layout.records)
    if len(records.steps) == 1 and not records.direct and records.steps[0].fits(root):
        return iter([root])
    return records.elements(root)


def _line(element: etree._Element) -> int:
    line = element.sourceline
    return line if isinstance(line, int) else 0


def _has_headings_only(element: etree._Element) -> bool:
    """Such as the first row of a table."""
    return local_name(element) == "tr" and {local_name(cell) for cell in element} == {"th"}


def document(content: Content, layout: Layout) -> etree._Element:
    """The root of XML or HTML."""
    if layout.format == "xml":
        try:
            return safe_xml.parse(decoded(content, layout).lstrip(), ())[0]  # leading blanks are tolerated
        except safe_xml.MalformedXml as problem:
            raise UnreadableFeed(content.place, str(problem)) from None
    text = decoded(content, layout).replace("\x00", "")
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=False)
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError as problem:
        raise UnreadableFeed(content.place, f"not valid HTML: {problem.msg}") from None
    if root is None:
        raise UnreadableFeed(content.place, "it is empty")
    return root


def _values(found: Iterator[Any]) -> tuple[Any, ...]:
    """One more than may be: then `event_maker` sees that there are too many."""
    return tuple(islice(found, MOST_VALUES + 1))
