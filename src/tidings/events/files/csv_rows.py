"""CSV (RFC 4180) to raw columns.

The header names id, event_type, optionally source, time and contact, and attributes. An empty cell is not
bound, a quoted empty one is the empty text. In event_type and in attributes that may be multiple, `|`
separates several values. An attribute that is named like a part of the envelope cannot be written in CSV or
Parquet.

Rows are cut here and not by pyarrow.csv: a row without quotes is one `split`, which is fast enough (see
`files`), and only so is it known on which line a refused row began when cells hold newlines or lines
are blank.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from tidings.events.columns import RawColumns
from tidings.events.files.chunk import ENVELOPE_COLUMNS, Chunk, WrongHeader, check_header
from tidings.events.files.lines import LONGEST_LINE, TOO_LONG, numbered_lines
from tidings.events.numerals import float_column, numeral
from tidings.events.refusal import Refused, refused_line
from tidings.schema import Catalog, Kind
from tidings.schema.catalog import EVENT_TYPE

Cells = list[str | None]

_CELL = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^,"][^,]*|))(,|\Z)')
_OPEN = re.compile(r'"[^"]*(?:""[^"]*)*\Z')
_MOST_LINES = 1_000  # that one row may span; beyond, its quote was never closed
_SEVERAL = "|"


def csv_chunks(stream: IO[bytes], name: str, catalog: Catalog, rows: int) -> Iterator[Chunk]:
    """The file's rows in chunks of so many; rows of the wrong length are refused at once."""
    numbered = _rows(numbered_lines(stream, name))
    _, header = next(numbered)
    if isinstance(header, str):
        raise WrongHeader(name, (header,))
    names = [(cell or "").strip() for cell in header]
    check_header(names, catalog, name)
    while found := list(islice(numbered, rows)):
        whole: list[Cells] = []
        lines: list[int] = []
        refused: list[Refused] = []
        for line, cells in found:
            if isinstance(cells, str):
                refused.append(refused_line(line, cells))
            elif len(cells) != len(names):
                refused.append(refused_line(line, f"{len(cells)} cells under {len(names)} columns"))
            else:
                whole.append(cells)
                lines.append(line)
        yield Chunk(_raw_columns(names, whole, catalog), lines, refused)


def _rows(lines: Iterator[tuple[int, bytes | None]]) -> Iterator[tuple[int, Cells | str]]:
    """Each row's cells with the line it began on, or why it is none."""
    waiting: list[tuple[int, bytes | None]] = []  # lines read in vain for the end of a quoted cell, last first
    while (numbered := waiting.pop() if waiting else next(lines, None)) is not None:
        number, line = numbered
        if line is None:
            yield number, TOO_LONG
            continue
        if line.isspace():
            continue
        try:
            text = line.decode().rstrip("\r\n")
        except UnicodeDecodeError as problem:
            yield number, f"the line is not valid UTF-8: {problem.reason} at byte {problem.start}"
            continue
        if '"' not in text:
            cells: Cells = text.split(",")  # type: ignore[assignment]
            yield number, [cell or None for cell in cells] if "" in cells else cells
        elif '""' not in text and (read := _simply_quoted_cells(text)) is not None:
            yield number, read
        else:
            yield number, _quoted_cells(text) or _over_lines(line, lines, waiting)


def _over_lines(
    first: bytes, lines: Iterator[tuple[int, bytes | None]], waiting: list[tuple[int, bytes | None]]
) -> Cells | str:
    """The cells of a row with a quoted newline; lines read in vain for its end are given back."""
    taken: list[tuple[int, bytes | None]] = []
    size = len(first)
    while len(taken) < _MOST_LINES and size <= LONGEST_LINE:
        numbered = waiting.pop() if waiting else next(lines, None)
        if numbered is None:
            break
        taken.append(numbered)
        if numbered[1] is None:
            break
        size += len(numbered[1])
        if b'"' in numbered[1]:
            try:
                text = b"".join([first, *(line for _, line in taken if line is not None)]).decode()
            except UnicodeDecodeError:
                break
            if cells := _quoted_cells(text.rstrip("\r\n")):
                return cells
    waiting.extend(reversed(taken))
    return "a quoted cell begins in this line and never ends"


def _simply_quoted_cells(text: str) -> Cells | None:
    """What the csv module reads, twice as fast; but it cannot tell a quoted empty cell from an empty one."""
    try:
        cells = next(csv.reader((text,), strict=True))
    except csv.Error:
        return None
    return [cell or None for cell in cells] if "" in cells else list(cells)


def _quoted_cells(text: str) -> Cells | str | None:
    """The cells, why there are none, or None when the last one is not closed yet."""
    cells: Cells = []
    place = 0
    while (found := _CELL.match(text, place)) is not None:
        quoted, plain, separator = found.groups()
        cells.append(plain or None if quoted is None else quoted.replace('""', '"'))
        place = found.end()
        if not separator:
            return cells
    if _OPEN.match(text, place):
        return None
    return f"there is text after the closing quote of cell {len(cells) + 1}; double a quote inside quotes"


def _raw_columns(names: list[str], rows: list[Cells], catalog: Catalog) -> RawColumns:
    by_name = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    envelope: dict[str, Any] = {}
    attributes: dict[str, Any] = {}
    doubted: set[int] = set()
    for name, cells in by_name.items():
        column = pa.array(cells, pa.string())
        if _may_be_several(name, catalog):
            column = _split(column)
        if _is_numeric(name, catalog):
            column, odd = float_column(column)
            doubted.update(odd)
        (envelope if name in ENVELOPE_COLUMNS else attributes)[name] = column

    def row(number: int) -> dict[str, Any]:
        raw = {name: _raw_value(name, cell, catalog) for name, cell in zip(names, rows[number], strict=True)}
        made = {name: raw.pop(name) for name in ENVELOPE_COLUMNS if name in raw}
        return {**made, "attributes": raw}

    return RawColumns(len(rows), envelope, attributes, row, doubted)


def _split(column: Any) -> Any:
    several = pc.any(pc.match_substring(column, _SEVERAL)).as_py()
    return pc.split_pattern(column, _SEVERAL) if several else column


def _raw_value(name: str, cell: str | None, catalog: Catalog) -> Any:
    if cell is None:
        return None
    parts = cell.split(_SEVERAL) if _may_be_several(name, catalog) else [cell]
    values = [numeral(part) for part in parts] if _is_numeric(name, catalog) else parts
    return values[0] if len(values) == 1 else values


def _may_be_several(name: str, catalog: Catalog) -> bool:
    return name == EVENT_TYPE or (name not in ENVELOPE_COLUMNS and catalog.may_be_multiple(name))


def _is_numeric(name: str, catalog: Catalog) -> bool:
    domain = catalog.domain_of(name) if name not in ENVELOPE_COLUMNS else None
    return domain is not None and domain.kind is Kind.NUMERIC
