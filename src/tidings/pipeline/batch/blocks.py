"""A file of events cut into blocks that are read apart, on other machines too, with the answers of the whole file.

The driver only looks for where rows begin; workers parse and check them (`chunk`). Blocks are cut where
`events.read_events` cuts its chunks: what a file gave before it turned out to be damaged is the same, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidings.events.arrow_columns import rows_of
from tidings.events.files.chunk import Chunk
from tidings.events.files.csv_rows import _rows as csv_rows
from tidings.events.files.json_lines import raw_columns as raw_events
from tidings.events.files.lines import LONGEST_LINE, DamagedFile, EmptyFile, numbered_lines
from tidings.events.files.reading import FORMS, UnknownForm, UnreadableFile
from tidings.events.files.reading import _form_of as form_of
from tidings.events.refusal import Refused
from tidings.schema import Catalog

ROWS = 10_000  # as read_events has them in a chunk
_ALL = 1 << 60
_TOO_LONG = b" " * (LONGEST_LINE + 2) + b"\n"  # for a line that was not kept, so that it is refused again


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Lines of a file. The head stands before them so that they read as a file of their own: of CSV the header."""

    form: str
    name: str
    first_line: int
    body: bytes
    head: bytes
    head_lines: int

    def chunk(self, catalog: Catalog) -> Chunk:
        """The rows, with the lines that they have in the whole file."""
        try:
            (read,) = FORMS[self.form](BytesIO(self.head + self.body), self.name, catalog, _ALL)
        except EmptyFile:  # blank lines only, which is nothing wrong with a part of a file
            return Chunk(raw_events([], catalog), ())
        shift = self.first_line - self.head_lines - 1
        refused = [replace(one, line=one.line + shift) for one in read.refused]
        return Chunk(read.columns, [line + shift for line in read.lines], refused)


@dataclass(frozen=True, slots=True)
class ColumnBlock:
    """Rows of a Parquet file, as an Arrow stream."""

    first_row: int
    body: bytes

    def chunk(self, _catalog: Catalog) -> Chunk:
        batch = pa.ipc.open_stream(self.body).read_next_batch()
        return Chunk(rows_of(batch), range(self.first_row, self.first_row + len(batch)))


@dataclass(frozen=True, slots=True)
class EventBlock:
    """Events of a file that cannot be cut before it is parsed."""

    events: list[Any]
    lines: list[int]
    refused: list[Refused]

    def chunk(self, catalog: Catalog) -> Chunk:
        return Chunk(raw_events(self.events, catalog), self.lines, self.refused)


Block = TextBlock | ColumnBlock | EventBlock


def read_blocks(path: Path, catalog: Catalog, form: str | None = None, rows: int = ROWS) -> Iterator[Block]:
    """All of the file, in order; raises EventError as `read_events` does."""
    name = str(path)
    form = form or form_of(name)
    if form not in FORMS:
        raise UnknownForm(name, form)
    try:
        stream = open(path, "rb", buffering=1 << 17)  # noqa: SIM115 (closed below)
    except OSError as problem:
        raise UnreadableFile(name, problem.strerror or str(problem)) from None
    with stream:
        match form:
            case "jsonl":
                yield from _json_blocks(stream, name, rows)
            case "csv":
                yield from _csv_blocks(stream, name, catalog, rows)
            case "parquet":
                yield from _parquet_blocks(stream, name, catalog, rows)
            case _:
                for chunk in FORMS[form](stream, name, catalog, rows):
                    events = [chunk.columns.row(row) for row in range(chunk.columns.length)]
                    yield EventBlock(events, list(chunk.lines), chunk.refused)


def _json_blocks(stream: IO[bytes], name: str, rows: int) -> Iterator[Block]:
    """A blank line stands at the head: what is odd in the first line of a file is not so in another one."""
    numbered = numbered_lines(stream, name)
    while lines := list(islice(numbered, rows)):
        yield TextBlock("jsonl", name, lines[0][0], b"".join(_kept(line) for _, line in lines), b"\n", 1)


def _csv_blocks(stream: IO[bytes], name: str, catalog: Catalog, rows: int) -> Iterator[Block]:
    """A quoted cell may hold newlines, so only the reader of rows knows where one begins. It may look far ahead: the
    lines are kept until it says that the next block begins behind them."""
    lines: list[bytes] = []
    kept_from = 1

    def keep() -> Iterator[tuple[int, bytes | None]]:
        for number, line in numbered_lines(stream, name):
            lines.append(_kept(line))
            yield number, line

    begins = (number for number, _ in csv_rows(keep()))
    next(begins)
    first = next(begins, None)
    count = len(lines) if first is None else first - 1
    head = b"".join(lines[:count])
    list(FORMS["csv"](BytesIO(head), name, catalog, 1))  # a wrong header ends it here
    while first is not None:
        last = len(list(islice(begins, rows - 1))) < rows - 1
        read, damage, after = len(lines), None, None
        try:
            after = None if last else next(begins, None)
        except DamagedFile as problem:  # behind this block, which is whole
            damage = problem
        end = after - kept_from if after is not None else len(lines) if damage is None else read
        yield TextBlock("csv", name, first, b"".join(lines[first - kept_from : end]), head, count)
        if damage is not None:
            raise damage
        if after is not None:
            del lines[: after - kept_from]
            kept_from = after
        first = after


def _parquet_blocks(stream: IO[bytes], name: str, catalog: Catalog, rows: int) -> Iterator[Block]:
    next(FORMS["parquet"](stream, name, catalog, 1), None)  # no Parquet, or wrong columns: it ends here
    done = 0
    batches = pq.ParquetFile(stream).iter_batches(batch_size=rows)
    while True:
        try:
            batch = next(batches, None)
        except (pa.ArrowException, OSError) as problem:
            raise DamagedFile(name, f"row {done}", str(problem)) from None
        if batch is None:
            return
        yield ColumnBlock(done + 1, _written(batch))
        done += len(batch)


def _written(batch: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _kept(line: bytes | None) -> bytes:
    return _TOO_LONG if line is None else line
