"""Finds out, without a mapping, where the records of a source are and which paths lead to what is in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.inference.element_shape import element_shape
from tidings.feeds.inference.json_shape import json_shape
from tidings.feeds.inference.shape import Shape, cut
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.records.csv_rows import csv_rows
from tidings.feeds.records.records import Record, flat_records
from tidings.feeds.sources.content import Content
from tidings.feeds.sources.lines import opened

_HEADER = 100_000  # characters in which the header of CSV ends
_DELIMITERS = (",", ";", "\t", "|")


def shape_of(contents: Iterable[Content], layout: Layout) -> Shape:
    """What the layout does not say is found; no names where nothing is. Of CSV the first content tells the columns.
    Raises UnreadableFeed."""
    match layout.format:
        case "csv":
            first = next(iter(contents))
            layout = replace(layout, delimiter=_delimiter(first, layout))
            return _csv_shape(layout, next(csv_rows(first, layout), (0, []))[1])
        case "json":
            return json_shape(contents, layout)
        case "icalendar" | "log":
            return cut(layout, {path: path for record in _flat(contents, layout) for path in record if path != "text"})
        case _:
            return element_shape(contents, layout)


def _flat(contents: Iterable[Content], layout: Layout) -> Iterator[Record]:
    """As far as they can be read: how far that is, is said when they are read as records. One line of a log has all
    names."""
    for content in contents:
        with suppress(UnreadableFeed):
            found = flat_records(content, layout)
            yield from (record for _, record in islice(found, 1 if layout.format == "log" else None))


def _delimiter(content: Content, layout: Layout) -> str:
    """The one that stands most often in the header, outside of quotes, unless one was named."""
    if layout.delimiter != ",":
        return layout.delimiter
    with opened(content, layout) as text:
        start = re.sub(r'"[^"]*"', "", text.read(_HEADER))
    first = next((line for line in start.splitlines() if line.strip()), "")
    return max(_DELIMITERS, key=first.count)


def _csv_shape(layout: Layout, header: list[str]) -> Shape:
    counts = Counter(header)
    remarks = [
        f"there are {count} columns {name!r}; only the first is read"
        for name, count in counts.items()
        if name and count > 1
    ]
    if counts[""]:
        remarks.append(f"columns without a name are left out: {counts['']:,}")
    return Shape(layout, {name: name for name in header if name}, tuple(remarks))
