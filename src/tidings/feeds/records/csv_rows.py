"""The rows of CSV, as spreadsheets and programs write it; `records` makes records of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain

from tidings.feeds.errors import UnreadableFeed
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.sources.content import Content, not_text
from tidings.feeds.sources.lines import lines
from tidings.schema.values import is_text

_MOST_COLUMNS = 1_000
_LONGEST_CELL = 4 << 20  # characters; also where a quote is never closed
_SEPARATOR = re.compile(r"(?i)sep=.\s*")


def csv_rows(content: Content, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """The header and the rows that are not blank, each with the line in which it begins.

    A row with more cells than the header is left out, since nobody knows which cell was cut; that is said when all
    others have been read."""
    text = lines(content, layout)
    first, start = 1, next(text, "")
    if _SEPARATOR.match(start):  # tells Excel the delimiter
        first = 2
    else:
        text = chain([start], text) if start else text
    csv.field_size_limit(max(_LONGEST_CELL, csv.field_size_limit()))  # of the process: nobody else needs a smaller one
    ahead = _Lines(text)
    reader = csv.reader(ahead, delimiter=layout.delimiter, skipinitialspace=layout.delimiter != " ")
    header: list[str] | None = None
    longer: list[int] = []
    line, width = first, 0
    try:
        for row in reader:
            if len(row) > _MOST_COLUMNS:
                most = f"{len(row):,} columns; at most {_MOST_COLUMNS:,} are read"
                raise UnreadableFeed(content.place, f"line {line} has {most}")
            if ahead.ended:
                problem = "a quote is never closed; nothing after it was read"
                raise UnreadableFeed(content.place, f"line {line}: {problem}")
            if header is None and row:
                header = [name.strip() for name in row]
                if not all(map(is_text, header)):
                    raise UnreadableFeed(content.place, f"line {line}: {not_text(content, layout)}")
                width = len(header)
                yield line, header
            elif len(row) > width and any(cell.strip() for cell in row[width:]):
                longer.append(line)
            elif row and (row[0].strip() or any(cell.strip() for cell in row)):
                yield line, row
            line = first + reader.line_num
    except csv.Error as broken:
        raise UnreadableFeed(content.place, f"line {line}: not valid CSV: {broken}") from None
    if longer:
        rows = f"line {longer[0]} has" if len(longer) == 1 else f"line {longer[0]} and {len(longer) - 1:,} more have"
        advice = f"such rows are skipped; quote cells that contain {layout.delimiter!r}"
        raise UnreadableFeed(content.place, f"{rows} more cells than the first line; {advice}")


class _Lines:
    """Knows whether the reader asked for more than there is, which it does only inside quotes."""

    def __init__(self, text: Iterator[str]) -> None:
        self._text = text
        self.ended = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        try:
            return next(self._text)
        except StopIteration:
            self.ended = True
            raise
